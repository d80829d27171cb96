"""Taking in facts and asking for them, in a store of 10^4, 10^5, ... facts.

    python benchmarks/store.py                    # 10^4 and 10^5 facts, one JSON line
    python benchmarks/store.py --facts 1000000    # 10^4, 10^5 and 10^6
    python benchmarks/store.py --corrections 100000   # questions beside 0, 10^3, 10^4, 10^5 of them
    python benchmarks/store.py --before WORKTREE  # the same of another commit, at the same time

The documents are made up: ten facts each, people, firms and towns whose names come from lists of
a size that grows with the number of documents, so that things are spoken of by several documents.
An ingest is compared with `pyoxigraph.Store.extend` of the same quads, ready made, a thousand at
a time: what is over is merging, checking, and making the quads. The ratio is one of processor
time a quad, which a busy machine disturbs little; of a large store, three million quads are
written so. Latencies are medians on the wall.

With `--corrections`, stores of 10^4 facts differ in their journals alone: every correction accepts
one of the facts, each in turn, so that 10^5 of them decide about each fact ten times. The journal
is written in one go, with what the editor would write, before the documents come. The stores are
asked in turn, so that a busy machine slows all of them alike; a ratio is one of medians.

With `--before`, the benchmark of another commit, in a worktree of git, runs in a process of its own
beside this one: both are disturbed by the same.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pyoxigraph

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.graph.changes import Changes
from factloom.graph.corrections import (
    Correction,
    Party,
    Target,
    correction_quads,
    count_quad,
    make_key,
)
from factloom.graph.name_keys import name_key
from factloom.graph.store import Store

FACTS_A_DOCUMENT = 10
QUADS_ALONE = 3_000_000
NAMES = {"P19": "place of birth", "P108": "employer", "P17": "country", "P159": "headquarters"}
FACTS = [  # head, relation, tail: entities 0-3 are people, 4-6 firms, 7-9 towns, 10 a country
    *((person, "P108", 4 + person % 3) for person in range(4)),
    *((person, "P19", 7 + person % 3) for person in range(3)),
    (4, "P159", 7),
    (7, "P17", 10),
    (8, "P17", 10),
]
QUERIES = {
    "facts_of_a_name": (
        'SELECT ?relation ?object {{ ?person rdfs:label "{person}" ; ?relation ?object }}'
    ),
    "facts_with_evidence": (
        'SELECT ?name ?score ?text {{ ?person rdfs:label "{person}" . '
        "?person ?relation ?other {{| fl:score ?score ; fl:evidence/fl:text ?text |}} . "
        "?other rdfs:label ?name }}"
    ),
    "two_steps_over_merges": (
        'SELECT DISTINCT ?town {{ ?person rdfs:label "{person}" ; wdt:P108 ?firm . '
        "?firm (owl:sameAs|^owl:sameAs)* ?same . ?same wdt:P159 ?place . "
        "?place rdfs:label ?town }}"
    ),
}

QUESTIONS: dict[str, Callable[[Store, str], object]] = {
    "lookup": lambda store, name: store.find(name),
    "neighbours": lambda store, name: store.neighbours(name),
    "facts_with_evidence": lambda store, name: list(
        store.query(QUERIES["facts_with_evidence"].format(person=name))
    ),
}


def make_documents(count: int) -> Iterator[Document]:
    chance = random.Random(7)
    people = [f"Person{number} Surname{number % 997}" for number in range(max(4, 2 * count))]
    firms = [f"Firm {number} Ltd" for number in range(max(3, count))]
    towns = [f"Town {number}" for number in range(max(3, count // 10))]
    for number in range(count):
        names = [
            *(("PER", name) for name in chance.sample(people, 4)),
            *(("ORG", name) for name in chance.sample(firms, 3)),
            *(("LOC", name) for name in chance.sample(towns, 3)),
            ("LOC", f"Country {chance.randrange(200)}"),
        ]
        yield make_document(f"document-{number}", names)


def make_document(key: str, names: list[tuple[str, str]]) -> Document:
    text, mentions, sentences = "", [], []
    for type, name in names:
        start = len(text)
        mentions.append(Mention(start, start + len(name), type))
        text += f"{name} is spoken of here. "
        sentences.append(Sentence(start, len(text) - 1))
    return Document(
        text=text,
        id=key,
        sentences=tuple(sentences),
        mentions=tuple(mentions),
        entities=tuple(Entity((index,), mention.type) for index, mention in enumerate(mentions)),
        relations=tuple(
            Relation(head, tail, type, score=0.9, evidence=(head,)) for head, type, tail in FACTS
        ),
    )


class Clock:
    """Seconds on the wall and of the processor (all threads) that pieces of work took together."""

    def __init__(self) -> None:
        self.wall = self.processor = 0.0

    def __call__(self, work: Callable[[], object]) -> None:
        wall, processor = time.perf_counter(), time.process_time()
        work()
        self.wall += time.perf_counter() - wall
        self.processor += time.process_time() - processor


def ingest_all(store: Store, documents: Iterator[Document]) -> Clock:
    """Documents are made a thousand at a time, outside of the time that counts."""
    clock = Clock()
    while part := list(islice(documents, 1000)):
        clock(lambda part=part: store.ingest(part, relation_names=NAMES, model="made up 1"))
    return clock


def extend_alone(store: Store, directory: Path) -> float:
    """Write the quads of the store, bookkeeping and all, with pyoxigraph alone: seconds a quad."""
    plain = pyoxigraph.Store(str(directory))
    graphs = store.disk.named_graphs()
    quads = (
        quad for graph in graphs for quad in store.disk.quads_for_pattern(None, None, None, graph)
    )
    chosen = islice(quads, QUADS_ALONE)
    clock = Clock()
    while part := list(islice(chosen, 1000)):
        clock(lambda part=part: plain.extend(part))
    return clock.processor / len(plain)


def latencies(store: Store, names: list[str], rounds: int) -> dict[str, float]:
    """Milliseconds an answer takes."""
    asked: dict[str, Callable[[str], object]] = {
        name: lambda person, query=query: list(store.query(query.format(person=person)))
        for name, query in QUERIES.items()
    }
    asked["neighbours"] = store.neighbours
    return {f"{name}_ms": latency(ask, names, rounds) for name, ask in asked.items()}


def latency(ask: Callable[[str], object], names: list[str], rounds: int) -> float:
    chance = random.Random(1)
    times = []
    for _ in range(rounds):
        clock = Clock()
        clock(lambda: ask(chance.choice(names)))
        times.append(clock.wall)
    return round(1000 * statistics.median(times), 3)


def measure(facts: int, rounds: int) -> dict[str, object]:
    count = facts // FACTS_A_DOCUMENT
    names = [document.name(0) for document in islice(make_documents(count), 1000)]
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "store"
        with Store.open(directory) as store:
            ingest = ingest_all(store, make_documents(count))
            again = ingest_all(store, make_documents(count))
        opened = Clock()
        opened(lambda: Store.open(directory).close())
        size = sum(file.stat().st_size for file in directory.iterdir())
        with Store.open(directory) as store:
            quads, merges = len(store.disk), sum(1 for _ in store.merges())
            answers = latencies(store, names, rounds)
            alone = extend_alone(store, Path(folder) / "alone")
    return {
        "facts": facts,
        "quads": quads,
        "merges": merges,
        "facts_per_second": round(facts / ingest.wall),
        "facts_per_processor_second": round(facts / ingest.processor),
        "unchanged_facts_per_processor_second": round(facts / again.processor),
        "ingest_to_extend_ratio": round(ingest.processor / quads / alone, 2),
        "megabytes": round(size / 1e6, 1),
        "open_ms": round(1000 * opened.wall, 1),
        **answers,
    }


def accepted(document: Document, relation: Relation) -> Correction:
    """What the editor writes down where a fact is accepted."""
    head, tail = (
        Party(name, frozenset({make_key(name_key(name), "")}))
        for name in (document.name(relation.head), document.name(relation.tail))
    )
    words = f"{head.name}, {NAMES[relation.type]}, {tail.name}"
    target = Target(head, relation.type, tail)
    return Correction(0, "accept", "Eve", "2026-01-31T12:00:00+00:00", "", words, fact=target)


def write_journal(store: Store, documents: list[Document], count: int) -> None:
    facts = [
        accepted(document, relation) for document in documents for relation in document.relations
    ]
    changes = Changes(store.disk)
    for number in range(1, count + 1):
        said = replace(facts[number % len(facts)], number=number)
        changes.add_unseen(correction_quads(said))
    if count:
        changes.add_unseen([count_quad(count)])
    store.write(changes)


def measure_corrections(most: int, rounds: int) -> list[dict[str, object]]:
    documents = list(make_documents(1000))
    names = [document.name(0) for document in documents]
    counts = [0, *(size for size in (10**3, 10**4, 10**5) if size < most), most]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as kept:
        stores, ingests = [], []
        for count in counts:
            store = kept.enter_context(Store.open(Path(folder) / str(count)))
            write_journal(store, documents, count)
            ingests.append(ingest_all(store, iter(documents)))
            stores.append(store)
        decided = [
            sum(fact.decision == "accepted" for name in names for fact in store.neighbours(name))
            for store in stores
        ]
        asked = [latencies_in_turn(ask, stores, names, rounds) for ask in QUESTIONS.values()]
    return [
        {
            "corrections": count,
            "accepted_facts_in_answers": decided[index],
            "ingest_processor_seconds": round(ingests[index].processor, 1),
            **{
                f"{name}_{what}": value
                for name, times in zip(QUESTIONS, asked, strict=True)
                for what, value in (
                    ("ms", round(1000 * times[index], 3)),
                    ("ratio", round(times[index] / times[0], 2)),
                )
            },
        }
        for index, count in enumerate(counts)
    ]


def latencies_in_turn(
    ask: Callable[[Store, str], object], stores: list[Store], names: list[str], rounds: int
) -> list[float]:
    """The median seconds of an answer in each store."""
    chance = random.Random(1)
    times: list[list[float]] = [[] for _ in stores]
    for _ in range(rounds):
        name = chance.choice(names)
        for store, taken in zip(stores, times, strict=True):
            clock = Clock()
            clock(lambda store=store, name=name: ask(store, name))
            taken.append(clock.wall)
    return list(map(statistics.median, times))


def start_other(worktree: Path, arguments: argparse.Namespace) -> "subprocess.Popen[str]":
    """The benchmark of another commit, with its own sources."""
    options = {name: getattr(arguments, name) for name in ("facts", "rounds", "corrections")}
    given = [f"--{name}={value}" for name, value in options.items() if value is not None]
    command = [sys.executable, "benchmarks/store.py", *given]
    sources = {**os.environ, "PYTHONPATH": str(worktree / "src")}
    return subprocess.Popen(command, cwd=worktree, env=sources, stdout=subprocess.PIPE, text=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--facts", type=int, default=100_000, help="the largest store")
    parser.add_argument("--rounds", type=int, default=50, help="queries of each kind")
    parser.add_argument("--before", type=Path, help="a worktree of the commit to compare with")
    parser.add_argument("--corrections", type=int, help="measure questions beside so many")
    arguments = parser.parse_args()
    if arguments.before is not None:
        other = start_other(arguments.before, arguments)
    if arguments.corrections is not None:
        beside = measure_corrections(arguments.corrections, arguments.rounds)
        print(json.dumps({"benchmark": "store", "corrections": beside}), flush=True)
    else:
        sizes = [size for size in (10**4, 10**5, 10**6, 10**7) if size < arguments.facts]
        results = [measure(size, arguments.rounds) for size in [*sizes, arguments.facts]]
        print(json.dumps({"benchmark": "store", "sizes": results}), flush=True)
    if arguments.before is not None:
        print("before:", other.communicate()[0])


if __name__ == "__main__":
    main()
