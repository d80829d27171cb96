"""Facts that cannot all hold: two places of birth, a child of his child, two countries.

Relations of which a thing has one at most contradict each other where their tails differ, and a
tail does not hold the other (London lies in England, 1815 is the year of 10 December 1815).
Relations that lead up or down a line, as from parents to children, contradict each other where they
lead back.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from factloom.graph.facts import Connection, Thing
from factloom.graph.lookup import Lookup
from factloom.graph.name_keys import value_key

# Ids of Wikidata, and the words of those who have none.
ONE_AT_MOST: Mapping[str, str] = {
    "P19": "place of birth",
    "P20": "place of death",
    "P569": "date of birth",
    "P570": "date of death",
    "P571": "inception",
    "P17": "country",
    "P22": "father",
    "P25": "mother",
    "P36": "capital",
}
LINES: Mapping[str, tuple[str, bool]] = {  # relation: its words, and whether it leads down
    "P40": ("child", True),
    "P22": ("father", False),
    "P25": ("mother", False),
    "P361": ("part of", False),
    "P527": ("has part", True),
    "P131": ("located in the administrative territorial entity", False),
    "P155": ("follows", False),
    "P156": ("followed by", True),
    "P749": ("parent organization", False),
    "P355": ("subsidiary", True),
}
_KINDS = (("P40", "P22", "P25"), ("P361", "P527"), ("P131",), ("P155", "P156"), ("P749", "P355"))
_HOLDING = ("P131", "P17", "P30", "P361", "P706")  # a place within another
_FARTHEST = 5  # places from the inner to the outer


@dataclass(frozen=True, slots=True)
class Conflict:
    """Facts of which one at least is wrong, and why."""

    reason: str
    facts: tuple[Connection, ...]


def conflicts(lookup: Lookup) -> Iterator[Conflict]:
    """What contradicts itself in a store, but for what people have accepted on both sides."""
    search = _Search(lookup)
    for relation, words in ONE_AT_MOST.items():
        yield from search.several(relation, words)
    for kind in _KINDS:
        yield from search.leading_back(kind)


class _Search:
    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self.holders: dict[str, set[str]] = {}

    def several(self, relation: str, words: str) -> Iterator[Conflict]:
        """Things that have two of what they have one of."""
        by_head: dict[str, list[Connection]] = {}
        for fact in self._facts(relation, words):
            by_head.setdefault(fact.head.iri, []).append(fact)
        for facts in by_head.values():
            apart = [
                fact
                for fact in facts
                if any(self._differ(fact.tail, other.tail) for other in facts)
            ]
            if len(apart) > 1 and not _all_accepted(apart):
                reason = f"{apart[0].head.name} has one {words} at most"
                yield Conflict(reason, tuple(apart))

    def leading_back(self, kind: Iterable[str]) -> Iterator[Conflict]:
        """Two things that are each above the other."""
        above: dict[tuple[str, str], Connection] = {}
        for relation in kind:
            words, leads_down = LINES[relation]
            for fact in self._facts(relation, words):
                ends = (fact.head.iri, fact.tail.iri)
                above.setdefault(ends if leads_down else ends[::-1], fact)
        for (upper, lower), fact in above.items():
            back = above.get((lower, upper))
            if back is not None and upper < lower and not _all_accepted((fact, back)):
                names = f"{fact.head.name} and {fact.tail.name}"
                yield Conflict(f"{names} cannot each be above the other", (fact, back))
            elif upper == lower and fact.decision != "accepted":
                yield Conflict(f"{fact.head.name} cannot be above itself", (fact,))

    def _facts(self, relation: str, words: str) -> list[Connection]:
        """The facts of a relation, by its id or its words, those of several documents once."""
        found: dict[tuple[str, str], Connection] = {}
        for name in (relation, words):
            for fact in self.lookup.facts_of(name):
                ends = (fact.head.iri, fact.tail.iri)
                known = found.get(ends)
                before = () if known is None else known.evidence
                evidence = (*before, *fact.evidence)
                found[ends] = Connection(fact.head, fact.relation, fact.tail, evidence)
        return list(found.values())

    def _differ(self, one: Thing, other: Thing) -> bool:
        """Whether neither of two things holds the other."""
        if one.iri == other.iri:
            return False
        values = value_key(one.name), value_key(other.name)
        if values[0] is not None and values[1] is not None:
            return not (values[0].startswith(values[1]) or values[1].startswith(values[0]))
        return other.iri not in self._around(one) and one.iri not in self._around(other)

    def _around(self, thing: Thing) -> set[str]:
        """The places that hold a thing."""
        if thing.iri not in self.holders:
            found, reached = {thing.iri}, [thing]
            for _ in range(_FARTHEST):
                reached = [
                    fact.tail
                    for inner in reached
                    for fact in self.lookup.neighbours(inner)
                    if fact.relation in _HOLDING and fact.head.iri == inner.iri
                    if fact.tail.iri not in found
                ]
                found |= {outer.iri for outer in reached}
            self.holders[thing.iri] = found
        return self.holders[thing.iri]


def _all_accepted(facts: Iterable[Connection]) -> bool:
    return all(fact.decision is not None for fact in facts)
