"""Entities as vectors: what an encoder makes of their names, types and descriptions.

    source = KnowledgeSource("graph", "all-MiniLM-L6-v2")
    with source.opened() as base:
        memory = source.memory(base)      # all entities and facts, as they are now

Nothing is learned of an entity, so one that is added has its vector at once; the encoder is one
that is never trained further, or vectors would grow old. A vector is kept as long as what is said
of its entity stays the same.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from factloom.encoders.encoder import Encoder
from factloom.files.data_path import data_path
from factloom.graph.knowledge_base import KnowledgeBase, KnownEntity
from factloom.knowledge.contexts import TextVectors
from factloom.knowledge.opening import open_knowledge
from factloom.text.relation_names import RELATIONS

Integers = NDArray[np.int64]
Vectors = NDArray[np.float32]

_NAMES = 3  # that are told of an entity


def entity_text(entity: KnownEntity) -> str:
    """What is said of an entity, in a line.

    >>> entity_text(KnownEntity("Q64", {"Berlin": 9, "Bärlin": 1}, "city", "capital of Germany"))
    'Berlin, Bärlin (city): capital of Germany'
    """
    names = ", ".join(islice(entity.names, _NAMES)) or entity.id
    type = f" ({entity.type})" if entity.type else ""
    return f"{names}{type}" + (f": {entity.description}" if entity.description else "")


class GrowingVectors:
    """Vectors of keys with texts, each made once; a row once given keeps its meaning."""

    def __init__(self, embed: TextVectors) -> None:
        self.embed = embed
        self.vectors: Vectors = np.zeros((0, embed.encoder.width), np.float32)
        self._rows: dict[tuple[str, str], int] = {}

    def rows(self, keys: Sequence[str], texts: Sequence[str]) -> Integers:
        """(keys,) the rows of `vectors`"""
        asked = list(zip(keys, texts, strict=True))
        new = [pair for pair in dict.fromkeys(asked) if pair not in self._rows]
        if new:
            found = self.embed([text for _, text in new])
            self._rows |= {pair: len(self.vectors) + n for n, pair in enumerate(new)}
            self.vectors = np.concatenate([self.vectors, found])
        return np.array([self._rows[pair] for pair in asked], np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class KnowledgeMemory:
    """All of a knowledge base at one moment."""

    ids: tuple[str, ...]  # of the entities
    names: tuple[str, ...]  # likewise
    vectors: Vectors  # (entities, width), each of length 1
    relations: tuple[str, ...]
    relation_vectors: Vectors  # (relations, width)
    subject: Integers  # (groups,) rows of entities, sorted
    relation: Integers  # (groups,) rows of relations
    objects: tuple[tuple[int, ...], ...]  # of each group, rows of entities

    @property
    def number(self) -> dict[str, int]:
        """The row of each entity."""
        return {id: row for row, id in enumerate(self.ids)}


class KnowledgeSource:
    """Where a model's knowledge lies, and the encoder that describes it."""

    def __init__(self, path: str, describer: str) -> None:
        self.path = path
        self.describer = describer
        self.base: KnowledgeBase | None = None  # in place of what lies at the path

    @cached_property
    def entities(self) -> GrowingVectors:
        return GrowingVectors(TextVectors(Encoder.load(data_path(self.describer))))

    @property
    def width(self) -> int:
        return self.entities.embed.encoder.width

    def opened(self) -> AbstractContextManager[KnowledgeBase]:
        """The base as it is now."""
        return open_knowledge(data_path(self.path)) if self.base is None else nullcontext(self.base)

    @contextmanager
    def replaced(self, base: KnowledgeBase) -> Iterator[None]:
        """Inside, another base is known instead."""
        before, self.base = self.base, base
        try:
            yield
        finally:
            self.base = before

    def candidate_rows(self, base: KnowledgeBase, ids: Sequence[str]) -> Integers:
        """(ids,) rows of `entities.vectors`"""
        return self.entities.rows(ids, [entity_text(base.entity(id)) for id in ids])

    def memory(self, base: KnowledgeBase, *, facts: bool = False) -> KnowledgeMemory:
        """All entities, and all facts if they are asked for."""
        known = [base.entity(id) for id in dict.fromkeys(base.ids())]
        ids = tuple(entity.id for entity in known)
        rows = self.entities.rows(ids, [entity_text(entity) for entity in known])
        number = {id: row for row, id in enumerate(ids)}
        groups = [
            (number[id], relation, tuple(number[o] for o in objects if o in number))
            for id in (ids if facts else ())
            for relation, objects in base.facts(id).items()
        ]
        groups = [group for group in groups if group[2]]
        relations = tuple(sorted({relation for _, relation, _ in groups}))
        place = {relation: row for row, relation in enumerate(relations)}
        words = [f"relation {_in_words(relation)}" for relation in relations]
        relation_rows = self.entities.rows(words, words)
        return KnowledgeMemory(
            ids,
            tuple(entity.name for entity in known),
            self.entities.vectors[rows],
            relations,
            self.entities.vectors[relation_rows],
            np.array([subject for subject, _, _ in groups], np.int64),
            np.array([place[relation] for _, relation, _ in groups], np.int64),
            tuple(objects for _, _, objects in groups),
        )


def _in_words(relation: str) -> str:
    """What a relation says, rather than its number.

    >>> _in_words("P19"), _in_words("born_in")
    ('place of birth', 'born_in')
    """
    return RELATIONS[relation].name if relation in RELATIONS else relation
