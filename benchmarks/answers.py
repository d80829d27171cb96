"""What it takes to find passages and to answer: time and memory by the number of passages.

    python benchmarks/answers.py --passages 10000 100000
    python benchmarks/answers.py --passages 10000 --reader factloom-answers-en-small

The passages are cut from the novels of $FACTLOOM_DATA/en_text, at most 100 words each, of documents
of 1,000 words, in an index on disk; more than the novels have come again under other ids. Their
vectors are drawn by chance, for what is measured is the index: milliseconds a question (the half
and 95 of 100 are within), by words, by meaning and by both, of questions that are words of the
text; by how much the memory of the process grows, and the files; seconds until a document that
comes, or goes, is seen by a question. Apart from that, the default encoder reads
the first `--read` passages: by the index, and bare, in turn, the ratio of both, in seconds of the
processor. `--reader` answers questions from twenty passages each. One JSON object a line; one
thread.
"""

import argparse
import gzip
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from factloom.answers.asking import load_reader
from factloom.answers.passage_index import By, PassageIndex
from factloom.answers.text_questions import TextAnswers
from factloom.answers.text_vectors import TextVectors
from factloom.document import Document
from factloom.files.data_path import data_path

WORDS, A_DOCUMENT, WIDTH = 100, 10, 384
WAYS: tuple[By, ...] = ("words", "meaning", "both")


class ChanceVectors:
    """Vectors of length 1 that say nothing."""

    name, width = "by chance", WIDTH

    def __init__(self) -> None:
        self._chance = np.random.default_rng(0)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        drawn = self._chance.standard_normal((len(texts), WIDTH), dtype=np.float32)
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def novels() -> list[str]:
    """Documents of ten passages' words."""
    words: list[str] = []
    for file in sorted(Path(data_path("$FACTLOOM_DATA/en_text")).glob("*.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as text:
            words += text.read().split()
    step = WORDS * A_DOCUMENT
    return [" ".join(words[start : start + step]) for start in range(0, len(words) - step, step)]


def documents(texts: Sequence[str], passages: int) -> Iterator[Document]:
    for number, text in enumerate(islice(cycle(texts), passages // A_DOCUMENT)):
        yield Document(text, f"novel {number}")


def fill(folder: Path, vectors: Any, given: Iterator[Document]) -> PassageIndex:
    index = PassageIndex(folder, vectors)
    with index.writing():
        index.begin_anew(vectors, WORDS)
        index.put((document, "") for document in given)
    return index


def percentiles(run: Callable[[str], object], questions: Sequence[str]) -> dict[str, float]:
    times = []
    run(questions[0])
    for question in questions:
        begun = time.perf_counter()
        run(question)
        times.append(1000 * (time.perf_counter() - begun))
    half, most = np.percentile(times, [50, 95])
    return {"half_within_ms": round(float(half), 2), "95_of_100_within_ms": round(float(most), 2)}


def resident() -> int:
    """Bytes of memory that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def seconds(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    begun = clock()
    run()
    return clock() - begun


def measure(texts: Sequence[str], passages: int, questions: Sequence[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        before = resident()
        begun = time.process_time()
        index = fill(Path(folder), ChanceVectors(), documents(texts, passages))
        taken = time.process_time() - begun
        found = {
            by: percentiles(lambda question, by=by: index.search(question, 20, by=by), questions)
            for by in WAYS
        }
        new = Document("Zorvaxia Quellbrook founded the Umbrelline in Kestovar.", "new")

        def add() -> None:
            with index.writing():
                index.put([(new, "")])
            assert index.search("Zorvaxia Quellbrook", 1, by="words")

        def remove() -> None:
            with index.writing():
                index.put([], removed=["new"])
            assert not index.search("Zorvaxia Quellbrook", 1, by="words")

        disk = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        return {
            "passages": len(index),
            "taken_in_a_processor_second": round(len(index) / taken),
            **{f"{by}_{name}": value for by, each in found.items() for name, value in each.items()},
            "seconds_until_a_document_is_known": round(seconds(add), 3),
            "seconds_until_it_is_gone": round(seconds(remove), 3),
            "megabytes_on_disk": round(disk / 1e6),
            "memory_grows_by_megabytes": round((resident() - before) / 1e6),
        }


def reading(texts: Sequence[str], passages: int, rounds: int) -> dict[str, Any]:
    """What the index adds to the passes of its encoder."""
    given = list(documents(texts, passages))
    parts = [
        " ".join(text.split()[at : at + WORDS]) for text in texts for at in range(0, 1000, 100)
    ]
    vectors = TextVectors()
    ratios = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            indexed = seconds(lambda path=path: fill(path, vectors, iter(given)), time.process_time)
        bare = seconds(lambda: vectors.encode(parts[:passages]), time.process_time)
        ratios.append(indexed / bare)
    return {
        "read": passages,
        "passages_a_processor_second": round(passages / indexed, 1),
        "index_to_encoder": round(float(np.median(ratios)), 3),
    }


def answering(texts: Sequence[str], name: str, questions: Sequence[str]) -> dict[str, Any]:
    model, decision = load_reader(name)
    with tempfile.TemporaryDirectory() as folder:
        index = fill(Path(folder), ChanceVectors(), documents(texts, 1000))
        answers = TextAnswers(index, model, decision)
        return {"reader": name, **percentiles(answers.answers, questions[:20])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, nargs="*", default=[10_000, 100_000], help="about")
    parser.add_argument("--read", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--reader")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    texts = novels()
    step = max(1, len(texts) // arguments.questions)
    questions = [" ".join(text.split()[40:52]) for text in texts[::step]][: arguments.questions]
    for size in arguments.passages:
        print(json.dumps(measure(texts, size, questions)), flush=True)
    if arguments.read:
        print(json.dumps(reading(texts, arguments.read, arguments.rounds)), flush=True)
    if arguments.reader:
        print(json.dumps(answering(texts, arguments.reader, questions)), flush=True)


if __name__ == "__main__":
    main()
