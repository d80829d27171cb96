"""Facts as numbers, and the ways from one entity to others.

A relation r of R is the number r; r + R is its inverse, "object of r is subject". So every way
through a graph is a chain of numbers, whichever way its facts point.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from factloom.graph.knowledge_base import KnowledgeBase

Integers = NDArray[np.int64]

_MIDDLES = 100  # entities in the middle of a way, the first ones: some have ten thousand


@dataclass(frozen=True, eq=False)
class FactTable:
    """The facts of a knowledge base at one moment."""

    entities: tuple[str, ...]
    relations: tuple[str, ...]
    facts: Integers  # (facts, 3) subject, relation, object

    @classmethod
    def of(cls, base: KnowledgeBase) -> Self:
        return cls.from_triples(
            (subject, relation, object)
            for subject in base.ids()
            for relation, objects in base.facts(subject).items()
            for object in objects
        )

    @classmethod
    def from_triples(cls, triples: Iterable[tuple[str, str, str]]) -> Self:
        """Numbers in the order of the alphabet, so that they depend on the facts alone."""
        told = sorted(set(triples))
        entities = tuple(sorted({end for s, _, o in told for end in (s, o)}))
        relations = tuple(sorted({relation for _, relation, _ in told}))
        number = {id: row for row, id in enumerate(entities)}
        place = {relation: row for row, relation in enumerate(relations)}
        facts = [(number[s], place[r], number[o]) for s, r, o in told]
        return cls(entities, relations, np.array(facts, np.int64).reshape(-1, 3))

    def inverse(self, relation: int) -> int:
        count = len(self.relations)
        return relation + count if relation < count else relation - count

    @cached_property
    def both_ways(self) -> Integers:
        """(2 facts, 3) sorted by subject, relation, object"""
        turned = self.facts[:, ::-1] + [0, len(self.relations), 0]
        both = np.concatenate([self.facts, turned])
        return both[np.lexsort((both[:, 2], both[:, 1], both[:, 0]))]

    @cached_property
    def _keys(self) -> Integers:
        """(2 facts,) subject and relation as one number, sorted"""
        return self.both_ways[:, 0] * (2 * len(self.relations)) + self.both_ways[:, 1]

    def around(self, entity: int) -> Integers:
        """(facts, 2) relation and object of all facts about an entity, both ways"""
        width = 2 * len(self.relations)
        start, end = np.searchsorted(self._keys, [entity * width, (entity + 1) * width])
        return self.both_ways[start:end, 1:]

    def objects(self, entity: int, relation: int) -> Integers:
        """(objects,) sorted"""
        key = entity * (2 * len(self.relations)) + relation
        start, end = np.searchsorted(self._keys, [key, key + 1])
        return self.both_ways[start:end, 2]

    def subjects(self, relation: int) -> Integers:
        """(subjects,) of a relation or an inverse, each once"""
        column = 0 if relation < len(self.relations) else 2
        chosen = self.facts[:, 1] == relation % max(1, len(self.relations))
        return np.unique(self.facts[chosen, column])

    def follow(self, entity: int, way: tuple[int, ...]) -> Integers:
        """(entities,) at the end of a way of one or two relations, never the same entity twice"""
        found: Integers = self.objects(entity, way[0])
        if len(way) == 2:
            middles = found[found != entity][:_MIDDLES]
            ends = [self.objects(middle, way[1]) for middle in middles.tolist()]
            ends = [each[each != middle] for each, middle in zip(ends, middles, strict=True)]
            found = np.unique(np.concatenate(ends)) if ends else found[:0]
        others: Integers = found[found != entity]
        return others

    def middle(self, entity: int, way: tuple[int, ...], end: int) -> int | None:
        """An entity through which a way of two relations leads to its end."""
        for middle in self.objects(entity, way[0]).tolist():
            if middle not in (entity, end) and end in self.objects(middle, way[1]):
                return int(middle)
        return None
