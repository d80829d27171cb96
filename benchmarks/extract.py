"""From raw text to relations: how fast, how much memory, and what int8 gains and costs.

    python benchmarks/extract.py --model factloom-en-small            # one JSON line
    python benchmarks/extract.py --model runs/mine/best --memory 10 1000 10000

The texts are those of $FACTLOOM_DATA/redocred/dev.json without anything else; F1 is against the
labels of that file. "over_encoder" is the time of everything, from a string to relations with
evidence, over that of the bare encoder passes on the same batches in the same run. Memory and
the cold start are measured in processes of their own: the largest resident size, and the time
from the start of Python to the first relations. "long" is one text made of many, against the same
texts one by one. `--sentences 2` measures memory on the first two sentences of each document.
"""

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rounds import compare

from factloom.document import Document
from factloom.files.data_path import data_path

DATA = "$FACTLOOM_DATA/redocred/dev.json"
BATCH_TOKENS = 4096  # of `predict`

# What the measured processes run; nothing of this file is loaded there.
FIRST_RESULT = """
import sys, time, factloom
started = time.perf_counter()
pipeline = factloom.load(sys.argv[1])
loaded = time.perf_counter()
pipeline("Ada Lovelace was born in London. Her father was Lord Byron.")
print(loaded - started, time.perf_counter() - loaded)
"""
MEMORY = """
import itertools, resource, sys, torch, factloom
from factloom import formats
from factloom.document import Document
torch.set_num_threads(int(sys.argv[4]))
pipeline = factloom.load(sys.argv[1])
texts = [
    Document(d.text[: d.sentences[: int(sys.argv[5])][-1].end]) for d in formats.read(sys.argv[2])
]
pipeline(texts[0].text)
loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
many = itertools.islice(itertools.cycle(texts), int(sys.argv[3]))
documents = (Document(given.text, f"{number}") for number, given in enumerate(many))
relations = sum(len(found.relations) for found in pipeline.stream(documents))
print(loaded / 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, relations)
"""


def main() -> None:
    arguments = parse_arguments()
    import torch

    torch.set_num_threads(arguments.threads)
    path = Path(data_path(DATA))
    gold = list(itertools.islice(_read(path), arguments.documents))
    found = {
        "part": "extract",
        "model": arguments.model,
        "threads": arguments.threads,
        "speed": measure_speed(arguments.model, gold, arguments.rounds),
        "first_result": measure_first_result(arguments.model),
        "memory": [
            measure_memory(arguments.model, path, count, arguments.threads, arguments.sentences)
            for count in arguments.memory
        ],
        "long": [measure_long(arguments.model, gold, words) for words in arguments.long],
    }
    if arguments.int8:
        found["int8"] = measure_int8(arguments.model, gold, arguments.rounds)
    print(json.dumps(found))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="factloom-en-small")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--documents", type=int, default=100, help="for speed and F1")
    parser.add_argument("--memory", type=int, nargs="*", default=[10, 1000], metavar="DOCUMENTS")
    parser.add_argument("--sentences", type=int, default=1000, help="most of a text, for memory")
    parser.add_argument("--long", type=int, nargs="*", default=[1000, 5000], metavar="WORDS")
    parser.add_argument("--int8", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def _read(path: Path) -> Iterator[Document]:
    from factloom import formats

    return formats.read(path)


def measure_speed(model: str, gold: list[Document], rounds: int) -> dict[str, float]:
    """Everything from texts to relations, against the encoder alone."""
    import factloom

    pipeline = factloom.load(model)
    texts = [document.text for document in gold]
    encode = encoder_passes(pipeline.model, texts)
    times = compare(lambda: pipeline(texts), {"encoder": encode}, rounds)
    return {
        **times,
        "documents": len(texts),
        "documents_a_second": round(1000 * len(texts) / times["factloom_ms"], 2),
        "over_encoder": round(1 / times["encoder_slower"], 3),
    }


def encoder_passes(model: Any, texts: list[str]) -> Any:
    """The encoder over the same tokens in batches of the same size, and nothing else."""
    import torch

    encoder = model.encoder
    ids = sorted((tokens.ids for tokens in encoder.tokenize(texts)), key=len)
    batches = [encoder.batch(part) for part in _by_budget(ids)]

    @torch.inference_mode()
    def encode() -> None:
        for windows in batches:
            encoder.backbone(input_ids=windows.token_ids, attention_mask=windows.mask)

    return encode


def _by_budget(ids: list[Any]) -> Iterator[list[Any]]:
    """Parts of at most `BATCH_TOKENS` padded tokens; the longest comes last."""
    part: list[Any] = []
    for tokens in ids:
        if part and len(tokens) * (len(part) + 1) > BATCH_TOKENS:
            yield part
            part = []
        part.append(tokens)
    if part:
        yield part


def measure_first_result(model: str) -> dict[str, float]:
    start = time.perf_counter()
    load, extract = _run(FIRST_RESULT, model)
    whole = time.perf_counter() - start
    return {"seconds": round(whole, 2), "loading": round(load, 2), "first_text": round(extract, 2)}


def measure_long(model: str, gold: list[Document], words: int) -> dict[str, float]:
    """One text of at least so many words (if there are as many) against its parts."""
    import factloom

    pipeline = factloom.load(model)
    counts = itertools.accumulate(len(document.text.split()) for document in gold)
    needed = sum(1 for count in counts if count < words) + 1
    texts = [document.text for document in gold[:needed]]
    times = compare(lambda: pipeline(["\n\n".join(texts)]), {"parts": lambda: pipeline(texts)}, 1)
    return {
        "words": sum(len(text.split()) for text in texts),
        "seconds": round(times["factloom_ms"] / 1000, 1),
        "over_parts": round(1 / times["parts_slower"], 2),
    }


def measure_memory(
    model: str, path: Path, count: int, threads: int, sentences: int
) -> dict[str, float]:
    arguments = (path, count, threads, sentences)
    loaded, peak, relations = _run(MEMORY, model, *map(str, arguments))
    return {
        "documents": count,
        "relations": int(relations),
        "loaded_megabytes": round(loaded),
        "peak_megabytes": round(peak),
    }


def _run(program: str, *arguments: str) -> list[float]:
    """The numbers that a program of its own prints."""
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [float(number) for number in done.stdout.split()]


def measure_int8(model: str, gold: list[Document], rounds: int) -> dict[str, Any]:
    """int8 against float32: the time of everything, of the encoder, and F1 on the same texts."""
    from int8_encoder import to_int8

    import factloom

    plain, rounded = factloom.load(model), factloom.load(model)
    start = time.perf_counter()
    to_int8(rounded.model.encoder)
    made = time.perf_counter() - start
    texts = [document.text for document in gold]
    whole = compare(lambda: rounded(texts), {"float32": lambda: plain(texts)}, rounds)
    encoder = compare(
        encoder_passes(rounded.model, texts),
        {"float32": encoder_passes(plain.model, texts)},
        rounds,
    )
    return {
        "made_in_seconds": round(made, 1),
        "speed_up": whole["float32_slower"],
        "encoder_speed_up": encoder["float32_slower"],
        "int8": scores(rounded.model, gold),
        "float32": scores(plain.model, gold),
    }


def scores(model: Any, gold: list[Document]) -> dict[str, float]:
    from factloom.training.examiner import measure

    kept = ("f1", "mention_f1", "entity_f1", "gold_entities_f1", "evidence_f1")
    found = measure(model, gold)
    return {name: round(found[name], 4) for name in kept}


if __name__ == "__main__":
    main()
