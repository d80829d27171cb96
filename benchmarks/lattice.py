"""FLAT's layer, forward and backward, against the plain version that lays out every R_ij.

    python benchmarks/lattice.py            # one JSON line for each number of characters

Both run on the same weights and lattices (benchmarks/plain_flat.py is the plain one), in turn
(benchmarks/rounds.py). Memory is what a process of its own takes at most beyond what it held
before. The lattices are sentences of the Resume corpus
with the words of the vectors in $FACTLOOM_DATA; without it, words at random.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from plain_flat import plain_layer, plain_relative
from rounds import compare
from torch import Tensor

from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.modules.lattice_attention import LatticeLayer, RelativeSpans, span_pairs
from factloom.text.lexicon import Matcher
from factloom.text.word_vectors import vector_words

WIDTH, HEADS, INNER = 160, 8, 480


@dataclass(frozen=True)
class Lattices:
    """Sentences of as many characters each, and the words in them."""

    characters: int
    heads: Tensor  # (sentences, spans)
    tails: Tensor
    mask: Tensor
    states: Tensor  # (sentences, spans, width)


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    if arguments.peak:
        variant, characters = arguments.peak.split(",")
        print(peak_memory(variant, int(characters), arguments.sentences))
        return
    for characters in map(int, arguments.characters.split(",")):
        print(json.dumps(measured(characters, arguments)), flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--characters", default="50,150,300", help="lengths of the sentences")
    parser.add_argument("--sentences", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peak", help="VARIANT,CHARACTERS: print this process's peak megabytes")
    return parser.parse_args()


def measured(characters: int, arguments: argparse.Namespace) -> dict[str, object]:
    lattices = make_lattices(characters, arguments.sentences)
    steps = make_steps(lattices)
    times = compare(steps["factloom"], {"plain": steps["plain"]}, arguments.rounds)
    peak = {name: measured_peak(name, characters) for name in steps}
    return {
        "benchmark": "flat",
        "characters": characters,
        "spans": lattices.heads.shape[1],
        "sentences": arguments.sentences,
        "threads": arguments.threads,
        "quadruples": len(span_pairs(lattices.heads, lattices.tails).distances),
        **times,
        **{f"{name}_peak_megabytes": value for name, value in peak.items()},
        # what the process had before may be all that factloom needs
        "plain_more_memory": round(peak["plain"] / max(peak["factloom"], 1.0), 1),
    }


def make_steps(lattices: Lattices) -> dict[str, Callable[[], None]]:
    """Forward and backward of both; each leaves the gradients empty."""
    torch.manual_seed(0)
    relative, layer = RelativeSpans(WIDTH), LatticeLayer(WIDTH, HEADS, INNER, 0.0)

    def finish(output: Tensor) -> None:
        output.square().sum().backward()
        relative.zero_grad()
        layer.zero_grad()

    def factloom() -> None:
        pairs = span_pairs(lattices.heads, lattices.tails)
        rows = relative(pairs.distances)
        finish(layer(lattices.states, rows, pairs.of_first(lattices.characters), lattices.mask))

    def plain() -> None:
        rows = plain_relative(relative, lattices.heads, lattices.tails)
        output = plain_layer(layer, lattices.states, rows, lattices.mask)
        finish(output[:, : lattices.characters])

    return {"factloom": factloom, "plain": plain}


def make_lattices(characters: int, sentences: int) -> Lattices:
    words = found_words(characters, sentences)
    most = max(map(len, words))
    spans = [
        [(place, place) for place in range(characters)]
        + [(start, end - 1) for start, end in found]
        + [(0, 0)] * (most - len(found))
        for found in words
    ]
    positions = torch.tensor(spans)  # (sentences, spans, 2)
    counts = torch.tensor([characters + len(found) for found in words])
    mask = torch.arange(positions.shape[1]) < counts[:, None]
    torch.manual_seed(1)
    return Lattices(
        characters,
        positions[..., 0],
        positions[..., 1],
        mask,
        torch.randn(sentences, positions.shape[1], WIDTH),
    )


def found_words(characters: int, sentences: int) -> list[list[tuple[int, int]]]:
    """The words of each sentence: first and end character."""
    corpus = Path(data_path("$FACTLOOM_DATA/zh_ner/resume/dev.char.bmes"))
    vectors = Path(data_path("$FACTLOOM_DATA/zh_lexicon/wiki_word2vec"))
    if not corpus.exists() or not vectors.exists():
        chance = random.Random(0)
        places = range(characters // 2)
        starts = [[chance.randrange(characters - 4) for _ in places] for _ in range(sentences)]
        return [
            [(start, start + chance.choice((2, 2, 2, 3, 4))) for start in row] for row in starts
        ]
    text = "".join(document.text for document in islice(read(corpus), 100))
    matcher = Matcher(vector_words(vectors), shortest=2)
    parts = [text[n * characters : (n + 1) * characters] for n in range(sentences)]
    return [[(start, end) for _, start, end in matcher.find(part).tolist()] for part in parts]


def measured_peak(variant: str, characters: int) -> float:
    """Peak memory of a process of its own."""
    command = [sys.executable, *sys.argv, "--peak", f"{variant},{characters}"]
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(finished.stdout.splitlines()[-1])


def peak_memory(variant: str, characters: int, sentences: int) -> float:
    """Megabytes beyond what the process held before its first step."""
    make_steps(make_lattices(10, 1))[variant]()  # whatever is loaded at a first use
    step = make_steps(make_lattices(characters, sentences))[variant]
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    step()
    return round(memory("VmHWM") - before, 1)


def memory(name: str) -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition(f"{name}:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main()
