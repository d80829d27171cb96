"""Facts that a graph is likely to lack, with scores and with the facts that make them likely.

For a subject s, a relation r and every entity o:

    rules     R(o) = the confidence of the surest rule of r whose way leads from s to o (rules.py)
    vectors   V(o) = the probability of o among all entities, by what was learned (graph_vectors.py)
    score     1 - (1 - R) (1 - V)       two independent reasons, the "noisy or"

Rules are asked by their surest alone: many rules say the same in other words. A score tells how
often such guesses were among what the graph knows, so it is low rather than high where the graph
knows little. Behind a fact stand the facts of the rule's way, or else an entity that is alike and
of which the same is known.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy as np
import torch
from numpy.typing import NDArray

from factloom.graph.knowledge_base import KnownFact
from factloom.knowledge.fact_table import FactTable, Integers
from factloom.knowledge.graph_vectors import GraphVectors
from factloom.knowledge.rules import Rule

Scores = NDArray[np.float32]

_BY_VECTORS = 3  # objects of a subject and a relation that no rule leads to


@dataclass(frozen=True, slots=True)
class Missing:
    """A fact that is likely, by names of the table, and why."""

    subject: str
    relation: str
    object: str
    score: float
    because: tuple[tuple[str, str, str], ...]  # facts that are known
    confidence: float | None  # of the rule, where there is one
    alike: str | None  # the entity of which the same is known, where there is none


class Completion:
    """What is known, what was learned of it, and the rules that it follows."""

    def __init__(
        self, table: FactTable, vectors: GraphVectors | None, rules: Iterable[Rule]
    ) -> None:
        self.table = table
        self.vectors = vectors
        self.rules: defaultdict[int, list[Rule]] = defaultdict(list)
        for rule in rules:
            self.rules[rule.relation].append(rule)
            turned = rule.turned(table)
            self.rules[turned.relation].append(turned)

    # --- scores --------------------------------------------------------------------------------

    def by_rules(self, subjects: Integers, relation: int) -> Scores:
        """(subjects, entities) R; relations from the number of relations on are inverse"""
        found = np.zeros((len(subjects), len(self.table.entities)), np.float32)
        for row, subject in zip(found, subjects.tolist(), strict=True):
            for rule in self.rules[relation]:
                ends = self.table.follow(subject, rule.way)
                row[ends] = np.maximum(row[ends], rule.confidence)
        return found

    def by_vectors(self, subjects: Integers, relation: int) -> Scores:
        """(subjects, entities) V"""
        if self.vectors is None:
            return np.zeros((len(subjects), len(self.table.entities)), np.float32)
        asked = torch.from_numpy(subjects)
        return self.vectors.shares(asked, torch.full_like(asked, relation)).numpy()

    def scores(self, subjects: Integers, relation: int) -> Scores:
        """(subjects, entities)"""
        doubts = 1 - self.by_rules(subjects, relation)
        return 1 - doubts * (1 - self.by_vectors(subjects, relation))

    # --- what is missing -----------------------------------------------------------------------

    def missing(
        self,
        *,
        relation: str | None = None,
        entity: str | None = None,
        least: float = 0.1,
        most: int = 20,
        but: Collection[KnownFact] = (),
    ) -> list[Missing]:
        """The likeliest facts that are not known, of a relation, about an entity, or all `but`."""
        relations = range(len(self.table.relations))
        asked = [r for r in relations if relation in (None, self.table.relations[r])]
        found: list[tuple[float, int, int, int]] = []
        for number in asked:
            about = (each for each in self._about(number, entity) if self._fact_of(each) not in but)
            found = nlargest(most, [*found, *about])
        return [self._told(*each) for each in found if each[0] >= least]

    def _fact_of(self, found: tuple[float, int, int, int]) -> KnownFact:
        _, subject, relation, object = found
        names = self.table.entities
        return KnownFact(names[subject], self.table.relations[relation], names[object])

    def _about(self, relation: int, entity: str | None) -> Iterable[tuple[float, int, int, int]]:
        """The likely facts of a relation, all of them or those that an entity is an end of."""
        chosen = None if entity is None else self.table.entities.index(entity)
        for subject in self._subjects(relation):
            (scores,) = self.scores(np.array([subject]), relation)
            scores[self.table.objects(subject, relation)] = 0
            scores[subject] = 0
            if chosen is not None and chosen != subject:
                yield float(scores[chosen]), subject, relation, chosen
                continue
            for object in _best(scores, self._ends(subject, relation)):
                yield float(scores[object]), subject, relation, object

    def _subjects(self, relation: int) -> list[int]:
        """Those that have the relation already, or stand where a rule of it begins."""
        begins = {rule.way[0] for rule in self.rules[relation]}
        known = [self.table.subjects(step) for step in (relation, *sorted(begins))]
        return [int(each) for each in np.unique(np.concatenate(known))]

    def _ends(self, subject: int, relation: int) -> int:
        """How many objects are worth a look: all that rules lead to, and some more."""
        ends = [self.table.follow(subject, rule.way) for rule in self.rules[relation]]
        return sum(map(len, ends)) + _BY_VECTORS

    # --- why -----------------------------------------------------------------------------------

    def _told(self, score: float, subject: int, relation: int, object: int) -> Missing:
        names = self.table.entities
        rule = self._surest(subject, relation, object)
        alike = None if rule is not None else self._alike(subject, relation, object)
        if rule is not None:
            because = self._way(subject, rule.way, object)
        elif alike is not None:
            because = ((names[alike], self.table.relations[relation], names[object]),)
        else:
            because = ()
        return Missing(
            names[subject],
            self.table.relations[relation],
            names[object],
            round(score, 4),
            because,
            None if rule is None else round(rule.confidence, 4),
            None if alike is None else names[alike],
        )

    def _surest(self, subject: int, relation: int, object: int) -> Rule | None:
        rules = sorted(self.rules[relation], key=lambda rule: -rule.confidence)
        leading = (rule for rule in rules if object in self.table.follow(subject, rule.way))
        return next(leading, None)

    def _way(
        self, subject: int, way: Sequence[int], object: int
    ) -> tuple[tuple[str, str, str], ...]:
        """The facts of a way, as they are known."""
        if len(way) == 1:
            return (self._fact(subject, way[0], object),)
        middle = self.table.middle(subject, (way[0], way[1]), object)
        if middle is None:  # the way was followed to here: there is one
            return ()
        return (self._fact(subject, way[0], middle), self._fact(middle, way[1], object))

    def _fact(self, subject: int, relation: int, object: int) -> tuple[str, str, str]:
        names, count = self.table.entities, len(self.table.relations)
        if relation >= count:
            subject, relation, object = object, relation - count, subject
        return names[subject], self.table.relations[relation], names[object]

    def _alike(self, subject: int, relation: int, object: int) -> int | None:
        others = self.table.objects(object, self.table.inverse(relation))
        others = others[others != subject]
        if self.vectors is None or not len(others):
            return None
        likeness = self.vectors.likeness(subject, torch.from_numpy(others.copy()))
        return int(others[int(likeness.argmax())])


def _best(scores: Scores, most: int) -> list[int]:
    most = min(most, len(scores))
    rows = np.argpartition(-scores, most - 1)[:most]
    return [int(row) for row in rows if scores[row] > 0]
