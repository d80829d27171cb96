"""The tagger's inference against the bare encoder, on the same batches.

    python benchmarks/tagger.py            # one JSON line

Ours is everything from token ids to tags and their probabilities; the encoder's is its forward
pass. Sentences come from $FACTLOOM_DATA/conll2003/valid.txt, read together up to 160 words;
without it from examples/. The weights of tags and transitions are random: time does not care.
"""

import itertools
import json
from pathlib import Path

import torch
from rounds import compare, parse_arguments

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.layouts.batching import batches_by_length
from factloom.models.tagger import Tagger, TaggerSettings
from factloom.text.joining import join_documents

TYPES = ("LOC", "MISC", "ORG", "PER")


def main() -> None:
    arguments = parse_arguments(__doc__.splitlines()[0])
    found = measure(arguments.rounds)
    print(json.dumps({"part": "tagger", "threads": arguments.threads, **found}))


def measure(rounds: int) -> dict[str, object]:
    documents = read_documents()
    encoder = Encoder.load("all-MiniLM-L6-v2")
    found: dict[str, object] = {"documents": len(documents)}
    for output in ("crf", "softmax"):
        torch.manual_seed(0)
        model = Tagger(encoder, TYPES, TaggerSettings(output=output)).eval()
        found[output] = measure_model(model, documents, rounds)
    return found


def measure_model(model: Tagger, documents: list[Document], rounds: int) -> dict[str, float]:
    examples = model.prepare(documents)
    batches = [
        model.collate([examples[number] for number in numbers])
        for numbers in batches_by_length(examples, 4096)
    ]

    @torch.inference_mode()
    def tag() -> None:
        for batch in batches:
            emissions = model.emissions(batch)
            paths = model.field.decode(emissions, batch.lengths)
            model.field.path_probabilities(emissions, paths, batch.lengths)

    @torch.inference_mode()
    def encode() -> None:
        for batch in batches:
            windows = batch.windows
            model.encoder.backbone(input_ids=windows.token_ids, attention_mask=windows.mask)

    times = compare(tag, {"encoder": encode}, rounds)
    return {**times, "over_encoder": round(1 / times["encoder_slower"], 3)}


def read_documents() -> list[Document]:
    path = Path(data_path("$FACTLOOM_DATA/conll2003/valid.txt"))
    source = (
        path if path.exists() else Path(__file__).parents[1] / "examples" / "profiles-train.jsonl"
    )
    documents = itertools.islice(read(source), 400)
    return [joined.document for joined in join_documents(documents, 160)]


if __name__ == "__main__":
    main()
