"""Facts as numbers, and the ways from one entity to others.

A relation r of R is the number r; r + R is its inverse, "object of r is subject". So every way
through a graph is a chain of numbers, whichever way its facts point. A way is as certain as the
product of its facts' certainties.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from factloom.graph.knowledge_base import KnowledgeBase, KnownFact

Integers = NDArray[np.int64]
Scores = NDArray[np.float32]
Triple = tuple[str, str, str]

_MIDDLES = 100  # entities in the middle of a way, the first ones: some have ten thousand


@dataclass(frozen=True, eq=False)
class FactTable:
    """The facts of a knowledge base at one moment."""

    entities: tuple[str, ...]
    relations: tuple[str, ...]
    facts: Integers  # (facts, 3) subject, relation, object
    certainties: Scores | None = None  # (facts,) between 0 and 1; all are certain without

    @classmethod
    def of(cls, base: KnowledgeBase) -> Self:
        return cls.from_triples(
            (subject, relation, object)
            for subject in base.ids()
            for relation, objects in base.facts(subject).items()
            for object in objects
        )

    @classmethod
    def from_triples(cls, triples: Iterable[Triple]) -> Self:
        """Facts that are all certain."""
        return cls._numbered(dict.fromkeys(triples, 1.0))

    @classmethod
    def from_certainties(cls, told: Mapping[KnownFact, float]) -> Self:
        """Facts, and how certain each is."""
        return cls._numbered({(f.subject, f.relation, f.object): c for f, c in told.items()})

    @classmethod
    def _numbered(cls, told: Mapping[Triple, float]) -> Self:
        """Numbers in the order of the alphabet, so that they depend on the facts alone."""
        triples = sorted(told)
        entities = tuple(sorted({end for s, _, o in triples for end in (s, o)}))
        relations = tuple(sorted({relation for _, relation, _ in triples}))
        number = {id: row for row, id in enumerate(entities)}
        place = {relation: row for row, relation in enumerate(relations)}
        facts = [(number[s], place[r], number[o]) for s, r, o in triples]
        certainties = np.array([told[triple] for triple in triples], np.float32)
        return cls(entities, relations, np.array(facts, np.int64).reshape(-1, 3), certainties)

    def inverse(self, relation: int) -> int:
        count = len(self.relations)
        return relation + count if relation < count else relation - count

    @cached_property
    def _turned(self) -> Integers:
        """(2 facts, 3) the facts, and behind them the same from their other ends"""
        turned = self.facts[:, ::-1] + [0, len(self.relations), 0]
        return np.concatenate([self.facts, turned])

    @cached_property
    def _order(self) -> Integers:
        """(2 facts,) by subject, relation, object"""
        both = self._turned
        return np.lexsort((both[:, 2], both[:, 1], both[:, 0]))

    @cached_property
    def both_ways(self) -> Integers:
        """(2 facts, 3) sorted by subject, relation, object"""
        return self._turned[self._order]

    @cached_property
    def _certainties(self) -> Scores:
        """(2 facts,) of `both_ways`"""
        if self.certainties is None:
            return np.ones(len(self._order), np.float32)
        return np.concatenate([self.certainties, self.certainties])[self._order]

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
        return self.both_ways[self._rows(entity, relation), 2]

    def _rows(self, entity: int, relation: int) -> slice:
        """Of `both_ways`: the facts of an entity and a relation."""
        key = entity * (2 * len(self.relations)) + relation
        return slice(*np.searchsorted(self._keys, [key, key + 1]).tolist())

    def _told(self, entity: int, relation: int) -> tuple[Integers, Scores]:
        """(objects,) sorted, and how certain each is; never the entity itself"""
        rows = self._rows(entity, relation)
        objects, certainties = self.both_ways[rows, 2], self._certainties[rows]
        others = objects != entity
        return objects[others], certainties[others]

    def subjects(self, relation: int) -> Integers:
        """(subjects,) of a relation or an inverse, each once"""
        found, _ = self.objects_of_all(self.inverse(relation))
        return found

    def objects_of_all(self, relation: int) -> tuple[Integers, Integers]:
        """(objects,) of a relation or an inverse, each once, and of how many facts each is one"""
        column = 2 if relation < len(self.relations) else 0
        chosen = self.facts[:, 1] == relation % max(1, len(self.relations))
        return np.unique(self.facts[chosen, column], return_counts=True)

    def follow(self, entity: int, way: tuple[int, ...]) -> Integers:
        """(entities,) at the end of a way of one or two relations, never the same entity twice"""
        ends, _ = self.reached(entity, way)
        return ends

    def reached(self, entity: int, way: tuple[int, ...]) -> tuple[Integers, Scores]:
        """(entities,) at the end of a way, and the certainty of the surest facts that lead there"""
        first, sure = self._told(entity, way[0])
        if len(way) == 1 or not len(first):
            return first, sure
        told = [self._told(middle, way[1]) for middle in first[:_MIDDLES].tolist()]
        ends = np.concatenate([objects for objects, _ in told])
        products = [own * then for own, (_, then) in zip(sure, told, strict=False)]
        certainties = np.concatenate(products)[ends != entity]
        found, place = np.unique(ends[ends != entity], return_inverse=True)
        surest = np.zeros(len(found), np.float32)
        np.maximum.at(surest, place, certainties)
        return found, surest

    def middle(self, entity: int, way: tuple[int, ...], end: int) -> int | None:
        """The entity through which a way of two relations leads to its end, by the surest facts."""
        surest, found = 0.0, None
        for middle, own in zip(*self._told(entity, way[0]), strict=True):
            ends, certainties = self._told(int(middle), way[1])
            then = certainties[ends == end]
            if middle != end and len(then) and (found is None or own * then[0] > surest):
                surest, found = float(own * then[0]), int(middle)
        return found
