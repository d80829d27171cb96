"""Corrections as documents to train on: what was rejected, accepted and corrected, and no more.

A cell (head, relation, tail) of such a document is positive if people have accepted it or put it
in the place of another, negative if they have rejected it or put another in its place, and else
unknown: nobody has looked at it, and a model learns nothing from it (`annotated` is empty).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from factloom import formats
from factloom.document import Document, Relation
from factloom.graph.correcting import Corrected
from factloom.graph.store import Store

Triple = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class Lessons:
    """How much there is to learn."""

    documents: int
    stated: int
    denied: int

    def __str__(self) -> str:
        known = f"{self.stated:,} facts that hold, {self.denied:,} that do not"
        return f"{self.documents:,} documents, {known}"


def lesson(said: Corrected) -> Document | None:
    """What a document teaches; None where nobody has decided about any of its facts."""
    stated: dict[Triple, Relation] = {}
    denied: dict[Triple, Relation] = {}
    for found, fact in zip(said.document.relations, said.facts, strict=True):
        if fact.decision in ("accepted", "corrected"):
            stated[_triple(fact.relation)] = _known(fact.relation)
        if fact.decision == "rejected":
            denied[_triple(fact.relation)] = _known(fact.relation)
        if fact.decision is not None and _triple(found) != _triple(fact.relation):
            denied[_triple(found)] = _known(found)
    if not stated and not denied:
        return None
    wrong = tuple(relation for triple, relation in denied.items() if triple not in stated)
    known = {"relations": tuple(stated.values()), "denied": wrong, "annotated": ()}
    return said.document.replace(**known, unknown=(), candidates=None)


def lessons(store: Store) -> Iterator[Document]:
    """The documents of a store that teach something."""
    found = map(lesson, store.corrected())
    return (document for document in found if document is not None)


def write_lessons(store: Store, path: Path) -> Lessons:
    """Write a file to train on, and count what is in it."""
    counts = {"documents": 0, "stated": 0, "denied": 0}

    def counted() -> Iterator[Document]:
        for document in lessons(store):
            counts["documents"] += 1
            counts["stated"] += len(document.relations)
            counts["denied"] += len(document.denied)
            yield document

    formats.write(counted(), path)
    return Lessons(**counts)


def _triple(relation: Relation) -> Triple:
    return relation.head, relation.type, relation.tail


def _known(relation: Relation) -> Relation:
    return replace(relation, score=None, provenance={})
