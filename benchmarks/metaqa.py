"""MetaQA, development questions of one, two and three hops, over its own graph.

    python benchmarks/metaqa.py [--limit 500] [--seed 1] [--words] [--show]

A JSON line a number of hops, of so many questions that are drawn.

The graph of films is held in memory behind the same interface as a store, its relations under the
ids that Wikidata has for them; names stand in brackets in the questions. `hits_at_1`: the best
answer is one of the gold's; `exact`: all answers together are the gold's; `none`: not answered.
Nothing is trained on MetaQA, but the ways in which "share", "whose ... also", "co-starred with" and
"[film] actors" are taken apart were written with its questions in view, those of seed 1."""

import argparse
import gzip
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from factloom.answers.answer import Answer, Proof
from factloom.answers.graph_questions import GraphAnswers
from factloom.answers.meaning import SentenceVectors
from factloom.encoders.pretrained import DEFAULT_ENCODER
from factloom.files.data_path import data_path
from factloom.graph.facts import Connection, Evidence, Thing

FOLDER = "$FACTLOOM_DATA/metaqa"
RELATIONS = ["P57", "P58", "P161", "P577", "P364", "tags", "P136", "imdb votes", "imdb rating"]
NAMES = ["director", "screenwriter", "cast member", "publication date", "original language of work"]
NAMES += ["tag", "genre", "imdb votes", "imdb rating"]
TAILS = ["PER", "PER", "PER", "TIME", "MISC", "TAG", "MISC", "NUM", "NUM"]
_ALL = 10_000  # answers


class Films:
    """The graph of MetaQA."""

    def __init__(self, folder: Path) -> None:
        self.relation_names = dict(zip(RELATIONS, NAMES, strict=True))
        entities = _lines(folder / "kg_entity2text.txt.gz")  # in order; a few have a wrong number
        labels = {str(row): line.split("\t")[1] for row, line in enumerate(entities)}
        self.around: defaultdict[str, list[Connection]] = defaultdict(list)
        self.named: defaultdict[str, dict[str, Thing]] = defaultdict(dict)
        self.by_relation: defaultdict[str, list[Connection]] = defaultdict(list)
        proof = (Evidence("MetaQA", "", None, ()),)
        for part in ("train", "dev", "test"):
            for line in _lines(folder / f"kg_{part}.tsv.gz"):
                head, number, tail = line.split("\t")
                relation, type = RELATIONS[int(number)], TAILS[int(number)]
                film, other = Thing(head, labels[head], "MISC"), Thing(tail, labels[tail], type)
                fact = Connection(film, relation, other, proof)
                self.by_relation[relation].append(fact)
                for thing in (film, other):
                    self.around[thing.iri].append(fact)
                    self.named[thing.name][thing.iri] = thing

    def called(self, name: str) -> list[Thing]:
        return list(self.named[name].values()) if name in self.named else []

    def facts(self, thing: Thing) -> list[Connection]:
        return self.around[thing.iri]

    def facts_of(self, relation: str) -> list[Connection]:
        return self.by_relation[relation]

    def proofs(self, evidence: Evidence) -> tuple[Proof, ...]:
        return (Proof(evidence.document, ""),)


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode("utf-8").strip("\n").split("\n")


def measure(
    answering: GraphAnswers, questions: Sequence[tuple[str, set[str]]], show: bool
) -> dict[str, float]:
    counts: Counter[str] = Counter()
    started = time.perf_counter()
    for question, gold in questions:
        found = answering.answers(question, _ALL)
        said = given(found)
        hit = bool(said) and said[0] in gold
        counts += Counter(hit=hit, exact=set(said) == gold, none=not said)
        if show and not hit:
            print(question, "->", said[:3], sorted(gold)[:3], found[0].explanation[:100])
    total = len(questions)
    return {
        "questions": total,
        "hits_at_1": round(counts["hit"] / total, 3),
        "exact": round(counts["exact"] / total, 3),
        "none": round(counts["none"] / total, 3),
        "milliseconds": round(1000 * (time.perf_counter() - started) / total, 1),
    }


def given(found: Sequence[Answer]) -> list[str]:
    """All answers, of a list or one by one."""
    if found[0].items:
        return list(found[0].items)
    return [answer.text for answer in found if answer]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    folder = Path(data_path(FOLDER))
    meaning = None if given.words else SentenceVectors.load(DEFAULT_ENCODER)
    answering = GraphAnswers(Films(folder), meaning)
    for hops in (1, 2, 3):
        lines = _lines(folder / f"{hops}-hop.dev.txt.gz")
        chosen = random.Random(given.seed).sample(lines, min(given.limit, len(lines)))
        parted = [line.split("\t") for line in chosen]
        questions = [(question, set(gold.split("|"))) for question, gold in parted]
        print(json.dumps({"hops": hops, **measure(answering, questions, given.show)}), flush=True)


if __name__ == "__main__":
    main()
