"""Linking entities by name and prior, and with the context beside, on two corpora.

    python benchmarks/linking.py [--context]        # a JSON line for each corpus

DWIE: the base is made of the training part (names with counts, types, sentences as descriptions),
the test part is linked. ernie_wiki_entities: 100 articles in lower case, every tenth is linked; the
base is made of the others and of the labels, aliases and descriptions of FB15k-237's entities.
Links to entities that the base does not have cannot be found; they are told apart as unseen.
"""

import argparse
import gzip
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from factloom.document import Document, Entity, Mention
from factloom.evaluation.tasks import TASKS
from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.graph.knowledge_base import KnownEntity
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


def measured(
    name: str,
    train: Iterable[Document],
    test: list[Document],
    more: Iterable[KnownEntity],
    embed: Embed | None,
) -> dict[str, object]:
    annotated = Annotated.of(train)
    base = Tables.build([*annotated.entities(), *more], annotated.facts, annotated.unknown)
    links = [entity for document in test for entity in document.entities if entity.id]
    mentions = sum(len(entity.mentions) for entity in links)
    seen = sum(len(entity.mentions) for entity in links if entity.id in base)
    start = time.process_time()
    task = TASKS["linking"]
    numbers = task.measure(test, task.ask(Linker(base, embed), test)).numbers
    kept = ("f1", "f1_interval", "precision", "recall", "accuracy", "candidate_recall")
    kept += ("ambiguous_accuracy", "ambiguous_links", "unambiguous_accuracy", "gold_links")
    return {
        "benchmark": f"linking {name}",
        "context": embed is not None,
        "entities": len(base),
        "seen_links": seen,
        "all_links": mentions,
        "recall_of_seen": numbers["correct_links"] / seen,
        "processor_seconds": round(time.process_time() - start, 2),
        **{key: numbers[key] for key in kept},
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--context", action="store_true")
    arguments.add_argument("--fold", type=int, default=0, help="which tenth of ernie is linked")
    given = arguments.parse_args()
    embed = None
    if given.context:
        from factloom.encoders.encoder import Encoder
        from factloom.knowledge.contexts import TextVectors

        embed = TextVectors(Encoder.load("all-MiniLM-L6-v2"))
    folder = Path(data_path("$FACTLOOM_DATA/dwie"))
    train, test = (list(read(folder / f"{part}.json")) for part in ("train", "test"))
    print(json.dumps(measured("DWIE", train, test, (), embed)), flush=True)
    articles = list(ernie_documents())
    held_out = articles[given.fold :: 10]
    others = [article for article in articles if article not in held_out]
    found = measured("ernie_wiki_entities", others, held_out, freebase_entities(), embed)
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
