"""What a training step and an inference step of ATLOP cost, against the bare encoder.

    python benchmarks/relations_step.py                       # real batches, one JSON line
    python benchmarks/relations_step.py --entities 5,10,20,40,80
    python benchmarks/relations_step.py --entities 40,80 --constraints    # entities of six types
    python benchmarks/relations_step.py --entities 40,80 --without-plain    # much sooner done

Three things are measured in turn on the same batches of four documents: factloom's ATLOP, the
bare encoder (forward + backward, or forward), and a plain version of ATLOP on the same weights
(benchmarks/plain_atlop.py). Seconds are those of the processor, so that other work on the machine
counts little: medians over batches and rounds; ratios are medians of the ratios within one round.
Peak memory is that of a process which does nothing else.

Documents come from $FACTLOOM_DATA/redocred/dev.json; without it, from examples/.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from plain_atlop import plain_logits, plain_loss

from factloom.document import Document, Entity, Mention, Sentence
from factloom.encoders.encoder import Encoder
from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.layouts.marked_documents import MarkedExample, learn_type_constraints
from factloom.models.atlop import Atlop, AtlopSettings
from factloom.models.relation_decoding import relations_of

RELATIONS = [f"P{number}" for number in range(96)]
TYPES = ("LOC", "PER", "ORG", "TIME", "MISC", "NUM", "LOC", "PER")  # about as often as in DocRED
HERE = Path(__file__).parent
Batch = list[MarkedExample]


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    if arguments.peak:
        variant, mode = arguments.peak.split(",")
        print(json.dumps(peak_memory(variant, mode, arguments)))
        return
    result: dict[str, object] = {
        "encoder": arguments.encoder,
        "block_size": arguments.block_size,
        "threads": arguments.threads,
        "batch_documents": 4,
        "batches": arguments.batches,
        "rounds": arguments.rounds,
    }
    model = make_model(arguments)
    if arguments.entities:
        counts = [int(count) for count in arguments.entities.split(",")]
        result["entities"] = {count: growth(model, count, arguments) for count in counts}
    else:
        batches = real_batches(model, arguments.batches)
        result["training"] = timings(training_steps(model), batches, arguments)
        result["inference"] = timings(inference_steps(model), batches, arguments)
        result["peak_memory_gb"] = {
            f"{mode}_{variant}": measured_peak(variant, mode)
            for mode in ("training", "inference")
            for variant in ("factloom", "encoder", "plain")
        }
    print(json.dumps(result))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    parser.add_argument("--block-size", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--entities", help="entities a document, such as 5,10,20,40,80")
    parser.add_argument(
        "--constraints", action="store_true", help="types allow what they do in redocred/train.json"
    )
    parser.add_argument("--without-plain", action="store_true", help="leave out the plain version")
    parser.add_argument("--peak", help="VARIANT,MODE: print the peak memory of this process")
    return parser.parse_args()


def make_model(arguments: argparse.Namespace) -> Atlop:
    torch.manual_seed(0)
    encoder = Encoder.load(arguments.encoder)
    settings = AtlopSettings(block_size=arguments.block_size)
    if not arguments.constraints:
        return Atlop(encoder, RELATIONS, settings)
    found = learn_type_constraints(read(Path(data_path("$FACTLOOM_DATA/redocred/train.json"))))
    settings = settings.model_copy(update={"type_constraints": found})
    return Atlop(encoder, sorted(found), settings)


def real_batches(model: Atlop, count: int) -> list[Batch]:
    """The first documents that fit into one window, four by four in the file's order."""
    path = Path(data_path("$FACTLOOM_DATA/redocred/dev.json"))
    source = path if path.exists() else HERE.parent / "examples" / "profiles-train.jsonl"
    documents = [document for _, document in zip(range(6 * count), read(source), strict=False)]
    examples = model.prepare([document.replace(relations=()) for document in documents])
    fitting = [example for example in examples if example.tokens <= model.encoder.capacity]
    return [fitting[start : start + 4] for start in range(0, 4 * count, 4)]


def growth(model: Atlop, entities: int, arguments: argparse.Namespace) -> dict[str, object]:
    """The same 160 words with more and more entities, two mentions each."""
    types = ("MISC",) if model.settings.type_constraints == "none" else TYPES
    document = synthetic_document(entities, types)
    batch = model.prepare([document] * 4)
    result: dict[str, object] = {"pairs": batch[0].terms, "tokens": batch[0].tokens}
    result["training"] = timings(training_steps(model), [batch], arguments)
    steps = inference_steps(model, document)
    result["inference"] = timings(steps, [batch], arguments)
    return result


def synthetic_document(entities: int, types: tuple[str, ...], words: int = 160) -> Document:
    word, pitch = "river", len("river ")
    text = " ".join([word] * words)
    step = pitch * (words // (2 * entities))
    spans = [(step * number, step * number + len(word)) for number in range(2 * entities)]
    return Document(
        text=text,
        sentences=(Sentence(0, len(text)),),
        mentions=tuple(Mention(start, end, "MISC") for start, end in spans),
        entities=tuple(
            Entity((number, number + entities), types[number % len(types)])
            for number in range(entities)
        ),
    )


def training_steps(model: Atlop) -> dict[str, Callable[[Batch], None]]:
    """Forward and backward of the three; each leaves the gradients empty."""

    def factloom(batch: Batch) -> None:
        model(model.collate(batch)).loss.backward()
        model.zero_grad()

    def encoder(batch: Batch) -> None:
        windows = model.encoder.batch([example.token_ids for example in batch])
        output = model.encoder.backbone(input_ids=windows.token_ids, attention_mask=windows.mask)
        output.last_hidden_state.sum().backward()
        model.zero_grad()

    def plain(batch: Batch) -> None:
        with eager_attention(model):
            plain_loss(model, batch).backward()
        model.zero_grad()

    model.train()
    return {"factloom": factloom, "encoder": encoder, "plain": plain}


def inference_steps(
    model: Atlop,
    document: Document = Document(text="x", sentences=(Sentence(0, 1),)),  # noqa: B008 - frozen
) -> dict[str, Callable[[Batch], None]]:
    """From tokens to relations with evidence; the plain version stops at the logits.

    Of the document only sentences are read, and types where the model has constraints.
    """
    demand_margin(model)

    def factloom(batch: Batch) -> None:
        relations_of(model, [document] * len(batch), batch)

    @torch.inference_mode()
    def encoder(batch: Batch) -> None:
        windows = model.encoder.batch([example.token_ids for example in batch])
        model.encoder.backbone(input_ids=windows.token_ids, attention_mask=windows.mask)

    @torch.inference_mode()
    def plain(batch: Batch) -> None:
        with eager_attention(model):
            plain_logits(model, batch)

    model.eval()
    return {"factloom": factloom, "encoder": encoder, "plain": plain}


def demand_margin(model: Atlop) -> None:
    """Untrained, every second relation would hold; after this none does by chance."""
    with torch.no_grad():
        model.classifier.bias[0] = 10.0


class eager_attention:  # noqa: N801 - used as a statement
    """The plain version needs the attention that only the plain kernel returns."""

    def __init__(self, model: Atlop) -> None:
        self.config = model.encoder.backbone.config

    def __enter__(self) -> None:
        self.kernel, self.config._attn_implementation = self.config._attn_implementation, "eager"

    def __exit__(self, *_: object) -> None:
        self.config._attn_implementation = self.kernel


def timings(
    steps: dict[str, Callable[[Batch], None]],
    batches: list[Batch],
    arguments: argparse.Namespace,
) -> dict[str, float]:
    """Median seconds of each, and median ratios to the bare encoder on the same batch."""
    if arguments.without_plain:
        steps = {name: step for name, step in steps.items() if name != "plain"}
    for step in steps.values():
        step(batches[0])  # warm up
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(arguments.rounds):
        for batch in batches:
            for name, step in steps.items():
                start = time.process_time()
                step(batch)
                seconds[name].append(time.process_time() - start)
    result = {f"{name}_seconds": round(statistics.median(s), 4) for name, s in seconds.items()}
    for name in steps.keys() - {"encoder"}:
        ratios = [a / b for a, b in zip(seconds[name], seconds["encoder"], strict=True)]
        result[f"{name}_to_encoder"] = round(statistics.median(ratios), 3)
    return result


def measured_peak(variant: str, mode: str) -> float:
    """Peak memory of a process of its own."""
    command = [sys.executable, *sys.argv, "--peak", f"{variant},{mode}"]
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(finished.stdout.splitlines()[-1]))


def peak_memory(variant: str, mode: str, arguments: argparse.Namespace) -> float:
    model = make_model(arguments)
    steps = training_steps(model) if mode == "training" else inference_steps(model)
    for batch in real_batches(model, arguments.batches):
        steps[variant](batch)
    return round(peak_of_process(), 3)


def peak_of_process() -> float:
    """The most memory that this process has had, in gigabytes."""
    # not getrusage: its maximum is handed down from the parent process
    status = Path("/proc/self/status").read_text(encoding="ascii")
    kilobytes = int(status.partition("VmHWM:")[2].split()[0])
    return kilobytes / 2**20


if __name__ == "__main__":
    main()
