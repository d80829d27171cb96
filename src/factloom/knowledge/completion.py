"""Facts that a graph is likely to lack, with scores and with the facts that make them likely.

For a subject s, a relation r and every entity o:

    rules     R(o) = max over the rules of r whose way leads from s to o (rules.py) of
                     the rule's confidence times the certainties of the facts of the way,
                     times N(r) if o has never been an object of r
    vectors   V(o) = the probability of o among all entities, by what was learned (graph_vectors.py)
    score     1 - (1 - R) (1 - V)       two independent reasons, the "noisy or"

Rules are asked by their surest alone: many rules say the same in other words. What follows from a
doubtful fact is as doubtful: most nonsense comes of facts that were read wrongly. N(r) is the
share of facts of r whose object is that of no other (Good and Turing's estimate of how often
something new comes; one such fact is added): the country of a town is that of other towns, its
mayor is of no other. A score tells how often such guesses were among what the graph knows, so it
is low rather than high where the graph knows little. Behind a fact stand the facts of the rule's
way, or else an entity that is alike and of which the same is known.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy as np
import torch

from factloom.graph.knowledge_base import KnownFact
from factloom.knowledge.fact_table import FactTable, Integers, Scores, Triple
from factloom.knowledge.graph_vectors import GraphVectors
from factloom.knowledge.rules import Rule

_BY_VECTORS = 3  # objects of a subject and a relation that no rule leads to


@dataclass(frozen=True, slots=True)
class Missing:
    """A fact that is likely, by names of the table, and why."""

    subject: str
    relation: str
    object: str
    score: float
    because: tuple[Triple, ...]  # facts that are known
    confidence: float | None  # of the rule, where there is one
    certainty: float | None  # of the facts of its way together, likewise
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
        self._habits: dict[int, tuple[Integers, float]] = {}  # of relations; see _habit

    # --- scores --------------------------------------------------------------------------------

    def by_rules(self, subjects: Integers, relation: int) -> Scores:
        """(subjects, entities) R; relations from the number of relations on are inverse"""
        found = np.zeros((len(subjects), len(self.table.entities)), np.float32)
        for row, subject in zip(found, subjects.tolist(), strict=True):
            for rule in self.rules[relation]:
                ends, certainties = self.table.reached(subject, rule.way)
                row[ends] = np.maximum(row[ends], rule.confidence * certainties)
        known, newness = self._habit(relation)
        fit = np.full(len(self.table.entities), newness, np.float32)
        fit[known] = 1
        return found * fit

    def _habit(self, relation: int) -> tuple[Integers, float]:
        """The objects that a relation has had, and N."""
        if relation not in self._habits:
            known, counts = self.table.objects_of_all(relation)
            newness = float(((counts == 1).sum() + 1) / (counts.sum() + 1))
            self._habits[relation] = known, newness
        return self._habits[relation]

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
        surest = self._surest(subject, relation, object)
        alike = None if surest is not None else self._alike(subject, relation, object)
        if surest is not None:
            because = self._way(subject, surest[0].way, object)
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
            None if surest is None else round(surest[0].confidence, 4),
            None if surest is None else round(surest[1], 4),
            None if alike is None else names[alike],
        )

    def _surest(self, subject: int, relation: int, object: int) -> tuple[Rule, float] | None:
        """The rule that gives R, and the certainty of the facts of its way."""
        leading = []
        for rule in self.rules[relation]:
            ends, certainties = self.table.reached(subject, rule.way)
            leading += [(rule, float(sure)) for sure in certainties[ends == object]]
        return max(leading, key=lambda pair: pair[0].confidence * pair[1], default=None)

    def _way(self, subject: int, way: Sequence[int], object: int) -> tuple[Triple, ...]:
        """The surest facts of a way, as they are known."""
        if len(way) == 1:
            return (self._fact(subject, way[0], object),)
        middle = self.table.middle(subject, (way[0], way[1]), object)
        if middle is None:  # the way was followed to here: there is one
            return ()
        return (self._fact(subject, way[0], middle), self._fact(middle, way[1], object))

    def _fact(self, subject: int, relation: int, object: int) -> Triple:
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
