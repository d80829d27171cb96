"""Takes in documents in child processes that are killed again and again, for test_killed_ingest.py.

    python killed_ingest.py STORE

looks into the store after every kill, and prints as JSON which version of each document was there
each time. Children are forked, so that Python starts once and not at every kill; the parent never
opens the store, whose threads would not live on in a child.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graph_documents import NAMES, make_document
from pyoxigraph import NamedNode, Quad

from factloom.document import Document
from factloom.graph.correcting import untouched
from factloom.graph.identifiers import document_iri, entity_iris
from factloom.graph.profiles import profiles
from factloom.graph.store import Store
from factloom.graph.stored_quads import stored_quads
from factloom.graph.vocabulary import CATALOGUE, RELATION_NAMES

COUNT = 20


def make_documents(version: int) -> list[Document]:
    """Documents with names in common; the version decides whom Ada works for."""
    firms = [("ORG", f"Firm Number {number}") for number in range(5)]
    return [
        make_document(
            f"{number}.txt",
            [("PER", "Ada Lovelace"), ("LOC", f"Town {number % 3}"), *firms],
            [(0, "P19", 1), (0, "P108", 1 + version), (1, "P17", 3 + version)],
        )
        for number in range(COUNT)
    ]


VERSIONS = {1: make_documents(1), 2: make_documents(2)}


def ingest(directory: Path, ready: int) -> None:
    """Take in version 1 of the documents that are not there, then version 2 of all."""
    with Store.open(directory) as store:
        os.write(ready, b"open")
        there = set(store.document_ids())
        new = [document for document in VERSIONS[1] if document.id not in there]
        store.ingest(new, relation_names=NAMES, model="test 1")
        store.ingest(VERSIONS[2], relation_names=NAMES, model="test 2")


def look(directory: Path, answer: int) -> None:
    """Check that the store is whole, and answer with the version of each document."""
    with Store.open(directory) as store:
        os.write(answer, json.dumps(versions_in(store)).encode())


def versions_in(store: Store) -> list[int]:
    """Every document is there whole, in one version, or not at all (0)."""
    stored = set(store.document_ids())
    versions, entities = [], set()
    for number in range(COUNT):
        name = f"{number}.txt"
        found = quads_in(store, number)
        matching = [version for version in VERSIONS if found == quads_of(number, version)]
        versions.append(matching[0] if found else 0)
        assert bool(found) == (name in stored)
        if found:
            assert store.document(name) == VERSIONS[matching[0]][number]
            entities |= set(entity_iris(store.document(name)))
    check_things(store, entities, len(stored))
    return versions


def quads_of(number: int, version: int) -> set[Quad]:
    document = VERSIONS[version][number]
    quads = stored_quads(
        document,
        profiles(document, NAMES),
        relation_names=NAMES,
        model=f"test {version}",
        said=untouched(document),
    )
    return {quad for quad in quads if quad.graph_name != RELATION_NAMES}


def quads_in(store: Store, number: int) -> set[Quad]:
    """What a store says of a document, also outside of its graph."""
    node = NamedNode(document_iri(f"{number}.txt"))
    facts = (NamedNode(f"{node.value}#fact={fact}") for fact in range(3))
    about = (*facts, *(NamedNode(f"{node.value}#sentence={each}") for each in range(7)))
    outside = (store.disk.quads_for_pattern(each, None, None, CATALOGUE) for each in about)
    own = store.disk.quads_for_pattern(None, None, None, node)
    return {quad for quads in (own, *outside) for quad in quads}


def check_things(store: Store, entities: set[str], documents: int) -> None:
    clusters = list(store.clusters())
    members = [member for cluster in clusters for member in cluster.members]
    assert len(members) == len(set(members))
    assert set(members) <= entities
    # Every document speaks of the same Ada, so all that are there are one thing.
    people = [len(cluster.members) for cluster in clusters if "/PER/" in cluster.canonical]
    assert people == ([documents] if documents > 1 else [])


def start(work: Callable[[Path, int], None], directory: Path) -> tuple[int, int]:
    """Run `work` in a child: its process, and a pipe from which its message can be read."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work(directory, writing)
        except BaseException as error:
            print(f"child failed: {error!r}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    os.close(writing)
    return child, reading


def survives(directory: Path, moment: float) -> bool:
    """Whether the ingest came to its end before it was killed."""
    child, reading = start(ingest, directory)
    os.read(reading, 4)  # the store is open
    time.sleep(moment)
    os.kill(child, signal.SIGKILL)  # harmless if it has ended: nobody has asked for it yet
    os.close(reading)
    return ended_well(child)


def seen(directory: Path) -> list[int]:
    return seen_by(look, directory)


def seen_by(look: Callable[[Path, int], None], directory: Path) -> Any:
    """What a child answers that looks into the store."""
    child, reading = start(look, directory)
    with os.fdopen(reading, "rb") as pipe:
        message = pipe.read()
    ended_well(child)
    return json.loads(message)


def ended_well(child: int) -> bool:
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        sys.exit("a child failed by itself")
    return os.WIFEXITED(status)


def main() -> None:
    directory = Path(sys.argv[1])
    chance = random.Random("kill")
    history = []
    # Longer and longer, so that a slow machine comes to the end too; but not at once.
    while not survives(directory, chance.uniform(0.0, 0.05) * 1.5 ** len(history)):
        history.append(seen(directory))
    print(json.dumps([*history, seen(directory)]))


if __name__ == "__main__":
    main()
