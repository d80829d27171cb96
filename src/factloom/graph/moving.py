"""A store of the layout before this one becomes one of this layout, where it is.

Layout 2 had a catalogue in a graph of its own, an `rdf:Statement` of eight quads for each fact and
each merge, and quads for every mention. The documents are kept whole, so their facts are said anew;
names, keys, merges, decisions and corrections are taken over as they stand.

Each document is moved by one transaction, and the old catalogue says which are still to come. A
move that is killed leaves a store that nobody opens before the same move has come to its end.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad

from factloom.document import Document
from factloom.graph.changes import Changes, text_of
from factloom.graph.correcting import corrected
from factloom.graph.corrections import CONCERNS, COUNT, Journal
from factloom.graph.identifiers import entity_iris
from factloom.graph.merging import Merge
from factloom.graph.opening import (
    BEING_MOVED,
    HAS_VERSION,
    MOVABLE,
    STORE,
    VERSION,
    check_version,
    open_anything,
    version_of,
)
from factloom.graph.profiles import profiles
from factloom.graph.records import CONTENT, FINGERPRINT
from factloom.graph.store import Store
from factloom.graph.stored_quads import stored_quads
from factloom.graph.stored_things import (
    MERGES,
    REASON,
    SAME_AS,
    SHOWN_BY,
    stored_merge,
)
from factloom.graph.vocabulary import CATALOGUE, OBJECT, SCORE, term

OLD_CATALOGUE = NamedNode("urn:factloom:catalogue")
OLD_READ_BY = term("fl:readBy")
OLD_TEXT_FINGERPRINT = term("fl:textFingerprint")


def move(directory: Path) -> int:
    """Move a store to this layout; how many documents were still to be moved."""
    disk = open_anything(directory, must_exist=True)
    if version_of(disk) not in MOVABLE:
        check_version(disk, disk.place)  # nothing to do, or nothing that can be done
        return 0
    with Store(disk) as store:
        moving = _Moving(store)
        moving.begin()
        contents = disk.quads_for_pattern(None, CONTENT, None, OLD_CATALOGUE)
        waiting = [text_of(quad.subject) for quad in contents]
        for document in waiting:
            moving.move(NamedNode(document))
        moving.end()
        disk.database.optimize()  # else what was removed would still take its place on the disk
    return len(waiting)


class _Moving:
    """A store on its way from one layout to the next."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.names = store.relation_names()

    def begin(self) -> None:
        """Say that it has begun, and take over what finds corrections: facts follow them."""
        changes = Changes(self.store.disk)
        changes.remove(changes.match(STORE, HAS_VERSION, None, OLD_CATALOGUE))
        changes.add(Quad(STORE, HAS_VERSION, Literal(BEING_MOVED), OLD_CATALOGUE))
        for predicate in (CONCERNS, COUNT):
            _take_over(changes, changes.match(None, predicate, None, OLD_CATALOGUE))
        self.store.write(changes)

    def move(self, node: NamedNode) -> None:
        """Move a document, its entities and their merges."""
        changes = Changes(self.store.disk)
        record = {
            quad.predicate: text_of(quad.object)
            for quad in changes.match(node, None, None, OLD_CATALOGUE)
        }
        document = Document.from_json(json.loads(record[CONTENT]))
        fingerprint = f"{record[FINGERPRINT]} {record[OLD_TEXT_FINGERPRINT]}"
        changes.remove(changes.match(node, None, None, OLD_CATALOGUE))
        changes.drop(node)
        changes.add(Quad(node, FINGERPRINT, Literal(fingerprint), CATALOGUE))
        changes.add(Quad(node, CONTENT, Literal(record[CONTENT]), CATALOGUE))
        for entity in entity_iris(document):
            self._move_entity(changes, NamedNode(entity))
        known = profiles(document, {})
        said = corrected(document, Journal(changes), known)
        changes.add_unseen(
            stored_quads(
                document,
                known,
                relation_names=self.names,
                model=record[OLD_READ_BY],
                said=said,
            )
        )
        self.store.write(changes)

    def _move_entity(self, changes: Changes, entity: NamedNode) -> None:
        _take_over(changes, changes.match(entity, None, None, OLD_CATALOGUE))
        for merge in list(_old_merges(changes, entity)):
            for quad in stored_merge(merge):
                changes.add(quad)
        changes.remove(changes.match(entity, SAME_AS, None, MERGES))
        changes.remove(changes.match(_old_merge_node(entity), None, None, MERGES))

    def end(self) -> None:
        """Say that it is a store of this layout: nothing of the old one is left."""
        changes = Changes(self.store.disk)
        changes.drop(OLD_CATALOGUE)
        changes.drop(MERGES)
        changes.add(Quad(STORE, HAS_VERSION, Literal(VERSION), CATALOGUE))
        self.store.write(changes)


def _take_over(changes: Changes, quads: Iterable[Quad]) -> None:
    """Let the new catalogue say what the old one says."""
    for quad in list(quads):
        changes.remove([quad])
        changes.add(Quad(quad.subject, quad.predicate, quad.object, CATALOGUE))


def _old_merges(changes: Changes, entity: NamedNode) -> Iterator[Merge]:
    about = {
        quad.predicate: text_of(quad.object)
        for quad in changes.match(_old_merge_node(entity), None, None, MERGES)
    }
    if about:
        score, reason, shown_by = float(about[SCORE]), about[REASON], about[SHOWN_BY]
        yield Merge(entity.value, about[OBJECT], score, reason, shown_by)


def _old_merge_node(entity: NamedNode) -> NamedNode:
    return NamedNode(f"{entity.value}#merge")
