"""Which facts of a graph are missing: FB15k-237 with a part held out.

    python benchmarks/graph_completion.py [--epochs 20] [--width 128]      # a JSON line each

For every held-out fact (s, r, o) both s and o are asked for; the answers are all 14,541 entities,
but those that other known facts give (filtered). Ranks of equal scores are their mean. TransE and
ComplEx of one width, the rules alone, and vectors together with rules, as `factloom complete`.
"""

import argparse
import json
import tarfile
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from factloom.files.data_path import data_path
from factloom.knowledge.completion import Completion
from factloom.knowledge.fact_table import FactTable, Integers
from factloom.knowledge.rules import find_rules
from factloom.training.graph_vectors import SETTINGS, learn_vectors

Scores = NDArray[np.float32]
Ranks = NDArray[np.float64]
Ask = Callable[[Integers, int], Scores]  # (queries,) entities, relation -> (queries, entities)


def triples(part: str) -> Iterator[tuple[str, str, str]]:
    with tarfile.open(data_path("$FACTLOOM_DATA/fb15k237/FB15k-237.tar.gz")) as archive:
        file = next(m for m in archive.getmembers() if m.name.endswith(f"{part}.txt"))
        for line in archive.extractfile(file) or ():
            subject, relation, object = line.decode().split()
            yield subject, relation, object


def held_out(table: FactTable, part: str) -> Integers:
    """(facts, 3); facts of what the training part never names are left out, as by others."""
    number = {id: row for row, id in enumerate(table.entities)}
    place = {relation: row for row, relation in enumerate(table.relations)}
    known = [
        (number[s], place[r], number[o])
        for s, r, o in triples(part)
        if s in number and o in number and r in place
    ]
    return np.array(known, np.int64)


def ranks(
    table: FactTable, everything: FactTable, asked: Integers, ask: Ask
) -> NDArray[np.float64]:
    """(2 facts,) both directions, relation by relation"""
    turned = asked[:, ::-1] + [0, len(table.relations), 0]
    both = np.concatenate([asked, turned])
    found = np.zeros(len(both))
    for relation in np.unique(both[:, 1]).tolist():
        rows = np.flatnonzero(both[:, 1] == relation)
        for part in np.array_split(rows, -(-len(rows) // 500)):
            scores = ask(both[part, 0], relation)  # (part, entities)
            for row, of_query in zip(part.tolist(), scores, strict=True):
                subject, _, object = both[row].tolist()
                right = of_query[object]
                others = of_query.copy()
                others[everything.objects(subject, relation)] = -np.inf
                found[row] = 1 + (others > right).sum() + (others == right).sum() / 2
    return found


def report(name: str, found: Ranks, seconds: float, **more: object) -> None:
    numbers = {"mrr": (1 / found).mean()} | {f"hits@{k}": (found <= k).mean() for k in (1, 3, 10)}
    rounded = {key: round(float(value), 4) for key, value in numbers.items()}
    told = {"benchmark": "graph completion", "model": name, **rounded, **more}
    print(json.dumps({**told, "processor_seconds": round(seconds, 1)}), flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--epochs", type=int, default=SETTINGS.epochs)
    arguments.add_argument("--width", type=int, default=128)
    arguments.add_argument("--part", default="test", help="valid or test")
    arguments.add_argument("--facts", type=int, help="so many of them, by chance")
    arguments.add_argument("--without", nargs="*", default=[], help="rules complex translation")
    given = arguments.parse_args()
    table = FactTable.from_triples(triples("train"))
    asked = held_out(table, given.part)
    known = [held_out(table, part) for part in ("valid", "test")]
    facts = np.concatenate([table.facts, *known])
    everything = FactTable(table.entities, table.relations, facts)
    if given.facts:
        chosen = np.random.default_rng(0).choice(len(asked), given.facts, replace=False)
        asked = asked[chosen]
    numbers = {"entities": len(table.entities), "facts": len(asked), "part": given.part}

    start = time.process_time()
    rules = [] if "rules" in given.without else find_rules(table)
    if rules:
        seconds = time.process_time() - start
        alone = Completion(table, None, rules)
        told = ranks(table, everything, asked, alone.by_rules)
        report("rules", told, seconds, rules=len(rules), **numbers)
    settings = SETTINGS.model_copy(update={"epochs": given.epochs})
    for score in ("translation", "complex"):
        if score in given.without:
            continue
        start = time.process_time()
        vectors = learn_vectors(table, settings, width=given.width, score=score)
        seconds = time.process_time() - start
        both = Completion(table, vectors, rules)
        told = ranks(table, everything, asked, both.by_vectors)
        report(score, told, seconds, width=given.width, epochs=given.epochs, **numbers)
        if rules:
            told = ranks(table, everything, asked, both.scores)
            report(f"{score} and rules", told, seconds, width=given.width, **numbers)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
