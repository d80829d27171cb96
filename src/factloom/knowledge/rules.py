"""Rules that a graph follows: which ways between two entities make a fact between them likely.

    born_in(X, Y)   <-  lives_in(X, Y)                      a way of one relation
    country(X, Y)   <-  born_in(X, Z), part_of(Z, Y)        a way of two

The ways that join the ends of known facts are counted, and each that joins several is asked how
often it leads to a fact:

    confidence = right / (ends reached + 5)

the five against ways that have been seen a few times only (Meilicke, Chekol, Ruffinelli,
Stuckenschmidt: Anytime Bottom-Up Rule Learning for Knowledge Graph Completion, IJCAI 2019). Both
steps look at samples, so that the work grows with the relations and not with the facts. A way of
which the graph knows some ends only is worth more than this says: what is not known counts as
wrong.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from factloom.knowledge.fact_table import FactTable, Integers

_UNSEEN = 5  # ends in vain that every way is given
_AROUND = 300  # facts about an entity that are looked at, by chance
_LEAST = 0.01  # confidence


@dataclass(frozen=True, slots=True)
class Rule:
    """A fact of this relation is likely between the ends of this way."""

    relation: int
    way: tuple[int, ...]
    confidence: float
    right: int  # of the ends that were reached

    def turned(self, table: FactTable) -> "Rule":
        """The rule of the inverse relation."""
        way = tuple(table.inverse(step) for step in reversed(self.way))
        return Rule(table.inverse(self.relation), way, self.confidence, self.right)


def find_rules(
    table: FactTable, *, facts: int = 200, subjects: int = 100, most: int = 30, seed: int = 0
) -> list[Rule]:
    """At most `most` rules of each relation, the surest first; see above for the samples."""
    chance = np.random.default_rng(seed)
    found = []
    for relation in range(len(table.relations)):
        known = table.facts[table.facts[:, 1] == relation]
        ways = _ways(table, _sample(known, facts, chance), relation, chance)
        asked = [way for way, count in ways.most_common(2 * most) if count > 1]
        rules = [_rule(table, relation, way, subjects, chance) for way in asked]
        rules = [rule for rule in rules if rule.confidence >= _LEAST]
        found += sorted(rules, key=lambda rule: (-rule.confidence, rule.way))[:most]
    return found


def _ways(
    table: FactTable, facts: Integers, relation: int, chance: np.random.Generator
) -> Counter[tuple[int, ...]]:
    """Of how many facts each way joins the ends, beside the fact itself."""
    counts: Counter[tuple[int, ...]] = Counter()
    for subject, _, object in facts.tolist():
        counts.update(ways_between(table, subject, object, chance) - {(relation,)})
    return counts


def ways_between(
    table: FactTable, subject: int, object: int, chance: np.random.Generator
) -> set[tuple[int, ...]]:
    """All ways of one or two relations, but of entities with very many facts."""
    if subject == object:
        return set()
    near = _sample(table.around(subject), _AROUND, chance).tolist()
    found: set[tuple[int, ...]] = {(step,) for step, end in near if end == object}
    steps: defaultdict[int, list[int]] = defaultdict(list)
    for step, middle in near:
        if middle not in (subject, object):
            steps[middle].append(step)
    for step, middle in _sample(table.around(object), _AROUND, chance).tolist():
        found.update((first, table.inverse(step)) for first in steps.get(middle, ()))
    return found


def _rule(
    table: FactTable, relation: int, way: tuple[int, ...], most: int, chance: np.random.Generator
) -> Rule:
    reached = right = 0
    for subject in _sample(table.subjects(way[0]), most, chance).tolist():
        ends = table.follow(subject, way)
        reached += len(ends)
        right += int(np.isin(ends, table.objects(subject, relation)).sum())
    return Rule(relation, way, right / (reached + _UNSEEN), right)


def _sample(rows: Integers, most: int, chance: np.random.Generator) -> Integers:
    if len(rows) <= most:
        return rows
    return rows[np.sort(chance.choice(len(rows), most, replace=False))]
