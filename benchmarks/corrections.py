"""What a model learns from twenty rejected facts of one kind, and what it forgets meanwhile.

    python benchmarks/corrections.py                        # one JSON line
    python benchmarks/corrections.py --relation P108 --set data.general_documents=150

The shipped model reads the documents of corpora/en/test, which it has not been trained on, and
whose annotation stands for a person who knows. Their facts go to a store. In documents drawn by a
seed, that person rejects the facts of one relation (the one that the model gets wrong most often,
unless it is given) that the annotation does not have, until there are twenty, and accepts those of
the same documents that it has. `configs/corrections.toml` trains the model on what
`factloom graph corrections --output` writes of that. The model before and after is then asked for

- the corrected documents: how many of the rejected facts come back;
- the rest of the documents, which nobody has corrected: right and wrong facts of the relation, and
  of all other relations;
- the first `--general` documents of $FACTLOOM_DATA/redocred/dev.json, raw and between gold
  entities: what was forgotten.
"""

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

import factloom
from factloom.document import Document, Relation
from factloom.evaluation import stated_facts
from factloom.evaluation.tasks import TASKS
from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.graph.lessons import write_lessons
from factloom.graph.store import Store
from factloom.pipeline import Pipeline
from factloom.training.recipe import read_recipe
from factloom.training.run import train_recipe

HERE = Path(__file__).parents[1]
MODEL = "factloom-en-small"


@dataclass(frozen=True, slots=True)
class Corpus:
    """Gold documents by their ids, and those that a person has looked at."""

    gold: dict[str, Document]
    looked_at: list[str]
    others: list[str]


def extracted(pipeline: Pipeline, documents: Iterable[Document]) -> list[Document]:
    return list(pipeline.stream(Document(given.text, given.id) for given in documents))


def holds(gold: Document, found: Document, relation: Relation) -> bool:
    """Whether the annotation states the fact."""
    alone = found.replace(relations=(relation,))
    return stated_facts.evaluate([gold], [alone]).counts().correct == 1


def counted(gold: Sequence[Document], found: Sequence[Document]) -> dict[str, int]:
    counts = stated_facts.evaluate(gold, found).counts()
    return {"right": counts.correct, "wrong": counts.predicted - counts.correct}


def only(documents: Iterable[Document], relation: str, *, kept: bool) -> list[Document]:
    """The documents with the relations of this type alone, or without them."""
    return [
        document.replace(
            relations=tuple(each for each in document.relations if (each.type == relation) is kept)
        )
        for document in documents
    ]


def correct(store: Store, corpus: Corpus, relation: str, wanted: int) -> set[tuple[str, int]]:
    """Say of one document after the other what is so; the rejected facts."""
    rejected: set[tuple[str, int]] = set()
    for name in corpus.looked_at:
        found = store.document(name)
        for number, fact in enumerate(found.relations):
            if fact.type != relation:
                continue
            said = store.edit("benchmark")
            if holds(corpus.gold[name], found, fact):
                said.accept(store.fact(f"{name}#fact={number}"))
            elif len(rejected) < wanted:
                said.reject(store.fact(f"{name}#fact={number}"))
                rejected.add((name, number))
    return rejected


def wrong_facts(gold: Document, found: Document) -> Counter[str]:
    """How many facts of each relation the annotation does not state."""
    return Counter(fact.type for fact in found.relations if not holds(gold, found, fact))


def divided(
    gold: dict[str, Document],
    wrong: Mapping[str, Counter[str]],
    relation: str | None,
    wanted: int,
) -> tuple[str, Corpus]:
    """The relation that is corrected, the documents for `wanted` rejections, and all others.

    `wrong` are the wrong facts by document.
    """
    everywhere = sum(wrong.values(), Counter[str]())
    if relation is None:
        relation = min(everywhere, key=lambda kind: (-everywhere[kind], kind))
    if everywhere[relation] < 2 * wanted:
        raise SystemExit(
            f"the model makes {everywhere[relation]} wrong facts of {relation}, and half of them "
            f"are to be {wanted}; the most are {everywhere.most_common(5)}"
        )
    names = sorted(gold)
    random.Random(7).shuffle(names)
    count = rejected = 0
    while rejected < wanted:
        rejected += wrong[names[count]][relation]
        count += 1
    return relation, Corpus(gold, names[:count], names[count:])


def measured(
    pipeline: Pipeline, corpus: Corpus, relation: str, general: Sequence[Document]
) -> dict[str, object]:
    gold = [corpus.gold[name] for name in corpus.others]
    found = extracted(pipeline, gold)
    task = TASKS["end-to-end"]
    scores = task.scores(general, task.ask(pipeline.model, general))
    return {
        "relation": counted(only(gold, relation, kept=True), only(found, relation, kept=True)),
        "all_others": counted(only(gold, relation, kept=False), only(found, relation, kept=False)),
        "general": {key: round(100 * scores[key], 2) for key in ("f1", "gold_entities_f1")},
    }


def came_back(
    pipeline: Pipeline, corpus: Corpus, before: dict[str, Document], rejected: set[tuple[str, int]]
) -> int:
    """How many of the rejected facts the model still finds in their documents."""
    looked_at = [corpus.gold[name] for name in corpus.looked_at]
    found = {document.id: document for document in extracted(pipeline, looked_at)}
    back = 0
    for name, number in rejected:
        old, new = before[name], found[name]
        fact = old.relations[number]
        told = {(old.name(fact.head), fact.type, old.name(fact.tail))}
        back += not told.isdisjoint(
            (new.name(each.head), each.type, new.name(each.tail)) for each in new.relations
        )
    return back


def learned(lessons: Path, output: Path, settings: list[str]) -> tuple[str, float]:
    """The model that has learned from a file of corrections, and how many minutes that took."""
    overrides = [f"data.train=['{lessons}']", *settings]
    recipe = read_recipe(HERE / "configs" / "corrections.toml", overrides)
    started = time.process_time()
    train_recipe(recipe, output)
    return str(output / "best"), (time.process_time() - started) / 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--relation", help="the kind of fact; else the one most often wrong")
    parser.add_argument("--corrections", type=int, default=20, help="facts that are rejected")
    parser.add_argument("--documents", type=int, help="the first documents of the corpus alone")
    parser.add_argument("--general", type=int, default=500, help="documents of Re-DocRED")
    parser.add_argument("--set", action="append", default=[], help="a setting of the recipe")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    documents = islice(read(HERE / "corpora/en/test"), arguments.documents)
    gold = {document.id: document for document in documents}
    general = list(read(data_path("$FACTLOOM_DATA/redocred/dev.json")))[: arguments.general]
    pipeline = factloom.load(MODEL)
    found = {document.id: document for document in extracted(pipeline, gold.values())}
    wrong = {name: wrong_facts(gold[name], found[name]) for name in gold}
    relation, corpus = divided(gold, wrong, arguments.relation, arguments.corrections)
    with tempfile.TemporaryDirectory() as folder:
        with Store.open(Path(folder) / "store") as store:
            names = pipeline.relation_names
            store.ingest(
                [found[name] for name in corpus.looked_at], relation_names=names, model=MODEL
            )
            rejected = correct(store, corpus, relation, arguments.corrections)
            lessons = write_lessons(store, Path(folder) / "lessons.jsonl")
        before = measured(pipeline, corpus, relation, general)
        path, minutes = learned(Path(folder) / "lessons.jsonl", Path(folder) / "run", arguments.set)
        after = factloom.load(path)
        result = {
            "benchmark": "corrections",
            "relation": relation,
            "lessons": str(lessons),
            "corrected_documents": len(corpus.looked_at),
            "rejected": len(rejected),
            "came_back": came_back(after, corpus, found, rejected),
            "other_documents": len(corpus.others),
            "before": before,
            "after": measured(after, corpus, relation, general),
            "training_processor_minutes": round(minutes, 1),
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
