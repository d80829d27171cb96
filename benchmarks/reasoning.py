"""What reasoning over entity pairs costs: the factored attention against the one of the paper.

    python benchmarks/reasoning.py                                # one JSON line
    python benchmarks/reasoning.py --entities 10,20,40,80 --width 768
    python benchmarks/reasoning.py --step                         # the whole model, real batches

The factored form (factloom.modules.pair_reasoning) and the naive one (plain_reasoning.py) have the
same weights and inputs: one document, all pairs, float32. Seconds are medians over rounds, in
which both take turns; memory is the peak of a process of its own, less that of the same process
before the pass. With --step: a training step of DocRE-SD, with and without self-distillation,
against the bare encoder on the same batches of four documents of redocred/dev.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import torch
from plain_reasoning import plain_attention
from relations_step import RELATIONS, peak_of_process, real_batches
from torch import Tensor

from factloom.encoders.encoder import Encoder
from factloom.models.docre_sd import DocreSd, DocreSdSettings
from factloom.modules.pair_reasoning import PairMatrix, ReasoningAttention
from factloom.training.plugins.self_distillation import SelfDistillation, SelfDistillationSettings
from factloom.training.settings import TrainingSettings
from factloom.training.trainer import Trainer

FORMS: dict[str, Callable[[ReasoningAttention, Tensor, PairMatrix], Tensor]] = {
    "factored": lambda module, pairs, matrix: module(pairs, matrix),
    "naive": plain_attention,
}
PASSES = ("forward", "forward_backward")


def main(command_line: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(command_line)
    torch.set_num_threads(arguments.threads)
    if arguments.peak:
        form, name, count = arguments.peak.split(",")
        print(json.dumps(peak_memory(form, name, int(count), arguments.width)))
        return
    result: dict[str, object] = {"threads": arguments.threads, "rounds": arguments.rounds}
    if arguments.step:
        result["training_step"] = whole_step(arguments.rounds)
    else:
        result["width"] = arguments.width
        counts = [int(count) for count in arguments.entities.split(",")]
        result["entities"] = {count: compared(count, arguments) for count in counts}
    print(json.dumps(result))


def parse_arguments(command_line: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entities", default="10,20,40,80")
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--step", action="store_true", help="a training step of the whole model")
    parser.add_argument("--peak", help="FORM,PASS,ENTITIES: print the memory of that pass")
    return parser.parse_args(command_line)


def make_inputs(count: int, width: int) -> tuple[ReasoningAttention, Tensor, PairMatrix]:
    torch.manual_seed(0)
    pairs = [(head, tail) for head in range(count) for tail in range(count) if head != tail]
    head, tail = torch.tensor(pairs).T
    features = torch.randn(len(pairs), width, requires_grad=True)
    return (
        ReasoningAttention(width),
        features,
        PairMatrix(torch.zeros_like(head), head, tail, 1, count),
    )


def run(form: str, name: str, inputs: tuple[ReasoningAttention, Tensor, PairMatrix]) -> Tensor:
    if name == "forward":
        with torch.no_grad():
            return FORMS[form](*inputs)
    output = FORMS[form](*inputs)
    output.square().sum().backward()
    return output.detach()


def compared(count: int, arguments: argparse.Namespace) -> dict[str, object]:
    """Seconds, megabytes and ratios of both forms, and how far apart their outputs are."""
    inputs = make_inputs(count, arguments.width)
    result: dict[str, object] = {
        "largest_difference": float(
            (run("factored", "forward", inputs) - run("naive", "forward", inputs)).abs().max()
        )
    }
    for name in PASSES:
        seconds: dict[str, list[float]] = {form: [] for form in FORMS}
        for form in FORMS:
            run(form, name, inputs)  # warm up
        for _ in range(arguments.rounds):
            for form in FORMS:
                start = time.perf_counter()
                run(form, name, inputs)
                seconds[form].append(time.perf_counter() - start)
        medians = {form: statistics.median(values) for form, values in seconds.items()}
        megabytes = {form: measured_peak(form, name, count, arguments) for form in FORMS}
        result[name] = {
            "seconds": {form: round(value, 4) for form, value in medians.items()},
            "times_faster": round(medians["naive"] / medians["factored"], 1),
            "megabytes": {form: round(value, 1) for form, value in megabytes.items()},
            "times_less_memory": round(megabytes["naive"] / megabytes["factored"], 1),
        }
    return result


def measured_peak(form: str, name: str, count: int, arguments: argparse.Namespace) -> float:
    """Megabytes of a process of its own."""
    command = [sys.executable, __file__, "--peak", f"{form},{name},{count}"]
    command += ["--width", str(arguments.width), "--threads", str(arguments.threads)]
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(finished.stdout.splitlines()[-1]))


def peak_memory(form: str, name: str, count: int, width: int) -> float:
    """What the pass adds to the process, in megabytes."""
    run(form, name, make_inputs(3, width))  # libraries and their buffers
    inputs = make_inputs(count, width)
    before = peak_of_process()
    run(form, name, inputs)
    return (peak_of_process() - before) * 1024


def whole_step(rounds: int) -> dict[str, float]:
    """Seconds of a training step, and their ratio to the bare encoder's."""
    model = DocreSd(Encoder.load("all-MiniLM-L6-v2"), RELATIONS, DocreSdSettings()).train()
    examples = [example for batch in real_batches(model, 6) for example in batch]
    plugin = SelfDistillation(SelfDistillationSettings())
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(model, examples, TrainingSettings(), folder, plugins=(plugin,))
        plugin.on_start(trainer)

    def encoder(batch: list) -> None:
        windows = model.encoder.batch([example.token_ids for example in batch])
        output = model.encoder.backbone(input_ids=windows.token_ids, attention_mask=windows.mask)
        output.last_hidden_state.sum().backward()

    def reasoning(batch: list) -> None:
        model(model.collate(batch)).loss.backward()

    def self_distillation(batch: list) -> None:
        collated = model.collate(batch)
        plugin.after_forward(trainer, collated, model(collated)).loss.backward()

    steps = {"encoder": encoder, "docre_sd": reasoning, "self_distillation": self_distillation}
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    batches = [examples[start : start + 4] for start in range(0, len(examples), 4)]
    for step in steps.values():
        step(batches[0])  # warm up
    for _ in range(rounds):
        for batch in batches:
            for name, step in steps.items():
                start = time.perf_counter()
                step(batch)
                seconds[name].append(time.perf_counter() - start)
                model.zero_grad()
    result = {f"{name}_seconds": round(statistics.median(s), 4) for name, s in seconds.items()}
    for name in ("docre_sd", "self_distillation"):
        ratios = [a / b for a, b in zip(seconds[name], seconds["encoder"], strict=True)]
        result[f"{name}_to_encoder"] = round(statistics.median(ratios), 3)
    return result


if __name__ == "__main__":
    main()
