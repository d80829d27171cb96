"""Entities of a new document linked to what a store already knows.

A name that says by itself who is meant needs no linker: merging follows it. A bare surname, "the
Council" or initials do not say it. Here they mean what they meant in the documents before, unless

    - half a document's doubt, that the name means something new, is too much: P < 0.65
    - types, years, identifiers or first names contradict it (graph/judging.py)
    - another entity of the document, which the text tells apart, means it more surely

The store is read as it is when the document comes, so each document meets all before it.
"""

from dataclasses import replace
from itertools import islice

from factloom.document import Document, Entity
from factloom.graph.judging import MERGED_FROM, judge_link
from factloom.graph.name_keys import VALUE_TYPES
from factloom.graph.profiles import Profile, profiles
from factloom.graph.store import Store
from factloom.knowledge.linking import Linker, LinkSettings, with_link
from factloom.knowledge.stored import StoredKnowledge

DOUBT = 0.5  # documents; chosen on DWIE's training part

_SHOWN = 5  # candidates that are kept with the entity


class StoreLinker:
    """A component: entities without identifiers in, those of the store's things out."""

    needs, adds = ("entities",), ("links",)
    task = "linking"

    def __init__(self, store: Store) -> None:
        self.known = StoredKnowledge(store, doubt=DOUBT, described=False)
        settings = LinkSettings(least_score=MERGED_FROM, by_demonym=1.0, something_new=0.0)
        self.linker = Linker(self.known, settings=settings)  # DOUBT says how often names are new

    def predict(self, documents: list[Document]) -> list[Document]:
        return [self.link(document) for document in documents]

    def link(self, document: Document) -> Document:
        told = profiles(document, {})
        found = [self._linked(document, index, told[index]) for index in range(len(told))]
        return document.replace(entities=_each_thing_once(found, document.entities))

    def _linked(self, document: Document, index: int, told: Profile) -> Entity:
        entity = document.entities[index]
        if entity.id is not None or entity.type.upper() in VALUE_TYPES:
            return entity
        scores = {
            id: score
            for id, score in self.linker.scores(document, index).items()
            if judge_link(told, self.known.profile(id), score) is not None
        }
        if not scores:
            return entity
        shown = dict(islice(scores.items(), _SHOWN))
        names = {id: self.known.entity(id).name for id in shown}
        return with_link(entity, shown, names, MERGED_FROM)


def _each_thing_once(found: list[Entity], before: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """The surest of the entities that are linked to one thing stays so; who had an id keeps it."""
    taken = {entity.id for entity in before if entity.id is not None}
    kept = list(found)
    for index in sorted(range(len(found)), key=lambda index: -_score(found[index])):
        id = found[index].id
        if before[index].id is None and id is not None:
            if id in taken:
                kept[index] = replace(found[index], id=None)
            taken.add(id)
    return tuple(kept)


def _score(entity: Entity) -> float:
    return float(entity.link_candidates[0]["score"]) if entity.link_candidates else 0.0
