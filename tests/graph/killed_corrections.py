"""Corrects a store in child processes that are killed again and again, for test_killed_ingest.py.

    python killed_corrections.py STORE

Each child rejects, merges, renames and undoes for as long as it lives. After every kill the store
is compared with what its documents and its journal say together, worked out anew.
"""

import json
import os
import random
import sys
import time
from pathlib import Path

from graph_documents import NAMES
from killed_ingest import VERSIONS, ended_well, quads_in, seen_by, start

from factloom.graph.correcting import corrected
from factloom.graph.corrections import Journal
from factloom.graph.profiles import profiles
from factloom.graph.store import Store
from factloom.graph.stored_quads import stored_quads
from factloom.graph.vocabulary import RELATION_NAMES

KILLS = 8  # at least


def prepare(directory: Path, answer: int) -> None:
    with Store.open(directory) as store:
        store.ingest(VERSIONS[1], relation_names=NAMES, model="test")
        os.write(answer, b"1")


def correct(directory: Path, ready: int) -> None:
    """Say something and take it back, for ever."""
    chance = random.Random(time.time())
    with Store.open(directory) as store:
        os.write(ready, b"open")
        while True:
            editor = store.edit("Eve", "killed")
            town = f"Town {chance.randrange(3)}"
            editor.reject(store.fact("Ada Lovelace", "place of birth", town))
            editor.rename(store.find(town), f"City {chance.randrange(9)}")
            towns = {store.find(f"Town {number}") for number in range(3)}
            if len(towns) > 1:
                editor.merge(sorted(towns, key=str)[:2])
            editor.undo(chance.choice([s.number for s in store.corrections() if not s.undone]))


def look(directory: Path, answer: int) -> None:
    """Check that nothing is half done, and answer with how much has been said."""
    with Store.open(directory) as store:
        for document in store.documents():
            said = corrected(document, Journal(store.lookup().things.changes))
            known = profiles(document, NAMES)
            quads = stored_quads(document, known, relation_names=NAMES, model="test", said=said)
            expected = {quad for quad in quads if quad.graph_name != RELATION_NAMES}
            assert quads_in(store, int(document.id.removesuffix(".txt"))) == expected
        for said in store.corrections():
            if said.action == "merge" and not said.undone:
                names = [party.name for party in said.things]
                keys = [sorted(party.keys)[0].partition("\t")[0] for party in said.things]
                assert store.find(keys[0]) == store.find(keys[1]), names
        os.write(answer, json.dumps(len(list(store.corrections()))).encode())


def main() -> None:
    directory = Path(sys.argv[1])
    chance = random.Random("kill")
    seen_by(prepare, directory)
    counts: list[int] = []
    # Longer and longer, so that also on a slow machine something is said between two kills.
    while len(counts) < KILLS or counts[-1] <= len(counts):
        child, reading = start(correct, directory)
        os.read(reading, 4)  # the store is open
        time.sleep(chance.uniform(0.0, 0.3) * 1.2 ** len(counts))
        os.kill(child, 9)
        os.close(reading)
        ended_well(child)
        counts.append(seen_by(look, directory))
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
