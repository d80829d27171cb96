"""Merging entities of different documents, against links to Wikipedia that people have made.

    python benchmarks/merging.py [FILE] [--link]    # one JSON line; FILE: DWIE, else its test part

With --link names are linked to the store before each document goes into it, as by
`factloom extract --store DIR --link`.

Pairs of linked entities of one type are counted: precision is the part of merged pairs that have
one link, recall the part of pairs with one link that are merged.
"""

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from factloom.document import Document
from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.graph.identifiers import entity_iris
from factloom.graph.merging import Cluster, merge_entities
from factloom.graph.store import Store
from factloom.knowledge.store_linker import StoreLinker


def pairs(counts: Iterable[int]) -> int:
    return sum(count * (count - 1) // 2 for count in counts)


def scores(clusters: Iterable[Cluster], links: dict[str, str]) -> dict[str, float]:
    linked = pairs(Counter(links.values()).values())
    merged = right = 0
    for cluster in clusters:
        found = Counter(links[member] for member in cluster.members if member in links)
        merged += pairs([found.total()])
        right += pairs(found.values())
    return {
        "entities": len(links),
        "precision": round(right / max(merged, 1), 4),
        "recall": round(right / max(linked, 1), 4),
    }


def without_identifiers(document: Document) -> Document:
    """The links are what is to be found: merging would follow them."""
    entities = tuple(replace(entity, id=None) for entity in document.entities)
    return document.replace(entities=entities)


def linked_and_merged(documents: Iterable[Document]) -> list[Cluster]:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "graph") as store:
        link = StoreLinker(store).link
        store.ingest(map(link, documents), relation_names={}, model="gold")
        return list(store.clusters())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("file", nargs="?", default="$FACTLOOM_DATA/dwie/test.json")
    arguments.add_argument("--link", action="store_true")
    arguments.add_argument("--first", type=int, help="so many documents of the file")
    given = arguments.parse_args()
    file = Path(data_path(given.file))
    documents = list(islice(read(file), given.first))
    links: dict[str, dict[str, str]] = {}  # by type, then by entity
    for document in documents:
        for index, iri in enumerate(entity_iris(document)):
            link = document.attributes["links"][index]
            if link is not None:
                links.setdefault(document.entities[index].type, {})[iri] = link.strip()
    start = time.process_time()
    merge = linked_and_merged if given.link else merge_entities
    clusters = merge(map(without_identifiers, documents))
    seconds = time.process_time() - start
    every = {iri: f"{type} {link}" for type, found in links.items() for iri, link in found.items()}
    result = {
        "benchmark": "merging",
        "linked": given.link,
        "file": file.name,
        "documents": len(documents),
        "processor_seconds": round(seconds, 2),
        "all": scores(clusters, every),
        **{type: scores(clusters, found) for type, found in links.items() if len(found) > 100},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
