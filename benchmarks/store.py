"""Taking in facts and asking for them, in a store of 10^4, 10^5, ... facts.

    python benchmarks/store.py                    # 10^4 and 10^5 facts, one JSON line
    python benchmarks/store.py --facts 1000000    # 10^4, 10^5 and 10^6

The documents are made up: ten facts each, people, firms and towns whose names come from lists of
a size that grows with the number of documents, so that things are spoken of by several documents.
An ingest is compared with `pyoxigraph.Store.extend` of the same quads, ready made, a thousand at
a time: what is over is merging, checking, and making the quads. The ratio is one of processor
time a quad, which a busy machine disturbs little; of a large store, three million quads are
written so. Latencies are medians on the wall.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pyoxigraph

from factloom.document import Document, Entity, Mention, Relation, Sentence
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
        'SELECT ?name ?score ?text {{ ?person rdfs:label "{person}" . ?fact rdf:subject ?person ; '
        "rdf:object ?other ; fl:score ?score ; fl:evidence/fl:text ?text . "
        "?other rdfs:label ?name }}"
    ),
    "two_steps_over_merges": (
        'SELECT DISTINCT ?town {{ ?person rdfs:label "{person}" ; wdt:P108 ?firm . '
        "?firm (owl:sameAs|^owl:sameAs)* ?same . ?same wdt:P159 ?place . "
        "?place rdfs:label ?town }}"
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--facts", type=int, default=100_000, help="the largest store")
    parser.add_argument("--rounds", type=int, default=50, help="queries of each kind")
    arguments = parser.parse_args()
    sizes = [size for size in (10**4, 10**5, 10**6, 10**7) if size < arguments.facts]
    results = [measure(size, arguments.rounds) for size in [*sizes, arguments.facts]]
    print(json.dumps({"benchmark": "store", "sizes": results}))


if __name__ == "__main__":
    main()
