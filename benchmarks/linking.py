"""Linking entities by name and prior, with the context beside, and by trained linkers.

    python benchmarks/linking.py [--context]        # a JSON line for each corpus
    python benchmarks/linking.py --learned FILE [--model DIR]      # DWIE by a trained linker

DWIE: the base is made of the training part (names with counts, types, sentences as descriptions),
the test part is linked. ernie_wiki_entities: 100 articles in lower case, every tenth is linked; the
base is made of the others and of the labels, aliases and descriptions of FB15k-237's entities.
Links to entities that the base does not have cannot be found; they are told apart as unseen. With
--learned, the documents that a linker was trained on, links to entities that the base has and that
no such document links to are told apart, too.
"""

import argparse
import gzip
import json
import time
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

from factloom.document import Document, Entity, Mention
from factloom.evaluation.tasks import TASKS
from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.graph.knowledge_base import KnowledgeBase, KnownEntity
from factloom.knowledge.annotated import Annotated
from factloom.knowledge.linking import Embed, Linker
from factloom.knowledge.tables import Tables
from factloom.text.tokens import join_tokens


def ernie_documents() -> Iterator[Document]:
    with gzip.open(data_path("$FACTLOOM_DATA/ernie_wiki_entities/wiki_linked.jsonl.gz")) as lines:
        for number, line in enumerate(lines):
            record = json.loads(line)["sents"]
            text, sentences = join_tokens([sentence["tokens"] for sentence in record])
            mentions, entities = [], []
            for sentence, marked in zip(sentences, record, strict=True):
                for start, end, id in marked["entities"]:
                    span = sentence.tokens[start][0], sentence.tokens[end - 1][1]
                    entities.append(Entity((len(mentions),), "entity", id))
                    mentions.append(Mention(*span, "entity"))
            yield Document(text, f"{number}", sentences, tuple(mentions), tuple(entities))


def freebase_entities() -> Iterator[KnownEntity]:
    with gzip.open(data_path("$FACTLOOM_DATA/fb15k237/entity2wikidata.json.gz")) as file:
        for known in json.load(file).values():
            if known.get("wikidata_id") and known.get("label"):
                names = dict.fromkeys([known["label"], *(known.get("alternatives") or ())], 1)
                yield KnownEntity(
                    known["wikidata_id"], names, description=known.get("description") or ""
                )


def right_links(
    gold: Iterable[Document], answers: Iterable[Document], ids: Container[str]
) -> tuple[int, int]:
    """Mentions whose gold is one of these entities: how many are linked to it, and all."""
    pairs = [
        (entity, found)
        for document, answer in zip(gold, answers, strict=True)
        for entity, found in zip(document.entities, answer.entities, strict=True)
        if entity.id in ids
    ]
    correct = sum(len(entity.mentions) for entity, found in pairs if entity.id == found.id)
    return correct, sum(len(entity.mentions) for entity, _ in pairs)


def measured(
    name: str, linker: Any, base: KnowledgeBase, test: list[Document], learned: set[str] | None
) -> dict[str, object]:
    ids = {entity.id for document in test for entity in document.entities if entity.id}
    known = {id for id in ids if id in base}
    start = time.process_time()
    task = TASKS["linking"]
    answers = task.ask(linker, test)
    numbers = task.measure(test, answers).numbers
    kept = ("f1", "f1_interval", "precision", "recall", "accuracy", "candidate_recall")
    kept += ("ambiguous_accuracy", "ambiguous_links", "unambiguous_accuracy", "gold_links")
    correct, seen = right_links(test, answers.documents, known)
    told = {
        "benchmark": f"linking {name}",
        "entities": len(base),
        "seen_links": seen,
        "all_links": right_links(test, test, ids)[1],
        "recall_of_seen": correct / seen,
        "processor_seconds": round(time.process_time() - start, 2),
        **{key: numbers[key] for key in kept},
    }
    if learned is not None:
        correct, count = right_links(test, answers.documents, known - learned)
        told |= {"never_learned_links": count, "recall_of_never_learned": correct / count}
    return told


def base_of(train: Iterable[Document], more: Iterable[KnownEntity] = ()) -> Tables:
    annotated = Annotated.of(train)
    return Tables.build([*annotated.entities(), *more], annotated.facts, annotated.unknown)


def dwie(embed: Embed | None, model: str | None, learned: Path | None) -> dict[str, object]:
    folder = Path(data_path("$FACTLOOM_DATA/dwie"))
    train, test = (list(read(folder / f"{part}.json")) for part in ("train", "test"))
    base = base_of(train)
    ids = None if learned is None else {e.id or "" for d in read(learned) for e in d.entities}
    if model is None:
        return measured("DWIE", Linker(base, embed), base, test, ids)
    import factloom

    linker: Any = factloom.load(model).model
    with linker.source.replaced(base):
        return measured(f"DWIE, {model}", linker, base, test, ids)


def ernie(embed: Embed | None, fold: int) -> dict[str, object]:
    articles = list(ernie_documents())
    held_out = articles[fold::10]
    others = [article for article in articles if article not in held_out]
    base = base_of(others, freebase_entities())
    return measured("ernie_wiki_entities", Linker(base, embed), base, held_out, None)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--context", action="store_true")
    arguments.add_argument("--fold", type=int, default=0, help="which tenth of ernie is linked")
    arguments.add_argument("--learned", type=Path, help="what a trained linker has learned from")
    arguments.add_argument("--model", help="the linker, in place of name and prior; DWIE only")
    given = arguments.parse_args()
    embed = None
    if given.context:
        from factloom.encoders.encoder import Encoder
        from factloom.knowledge.contexts import TextVectors

        embed = TextVectors(Encoder.load("all-MiniLM-L6-v2"))
    print(json.dumps(dwie(embed, given.model, given.learned)), flush=True)
    if given.learned is None:
        print(json.dumps(ernie(embed, given.fold)), flush=True)


if __name__ == "__main__":
    main()
