"""Which facts to look at first: those whose check would tell most.

    weight = doubt + 1 for a contradiction + 1 for what is sensitive + merge

`doubt` is the entropy of the fact's score in bits (1 where the model would toss a coin, 0 where it
is sure); `merge` is that of the least sure merge of an end, times log2(entities) of it: a wrong
merge that many documents hang on makes many facts wrong.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from factloom.graph.changes import text_of
from factloom.graph.conflicts import conflicts
from factloom.graph.corrections import Journal, fact_keys
from factloom.graph.facts import Connection, Thing
from factloom.graph.lookup import Lookup
from factloom.graph.vocabulary import CATALOGUE, REIFIES
from factloom.text.relation_names import SENSITIVE

_SENSITIVE = frozenset({*SENSITIVE, *SENSITIVE.values(), "religion"})


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A fact to look at, how much its check would tell, and why."""

    fact: Connection
    weight: float
    reasons: tuple[str, ...]


def doubtful_facts(lookup: Lookup) -> list[Doubtful]:
    """The facts that nobody has decided about, those first whose check would tell most.

    Those that somebody has skipped come last.
    """
    search = _Search(lookup)
    weighed = ((search.is_skipped(fact), search.weigh(fact)) for fact in _facts(lookup))
    ordered = sorted(weighed, key=lambda each: (each[0], -each[1].weight, _name(each[1].fact)))
    return [doubtful for _, doubtful in ordered]


class _Search:
    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self.journal = Journal(lookup.things.changes)
        self.in_conflict = {
            _triple(fact): conflict.reason
            for conflict in conflicts(lookup)
            for fact in conflict.facts
        }
        self.merges: dict[str, float] = {}

    def weigh(self, fact: Connection) -> Doubtful:
        doubt = 0.0 if fact.score is None else _entropy(fact.score)
        merge = max(self._merge_weight(thing) for thing in (fact.head, fact.tail))
        conflict = self.in_conflict.get(_triple(fact))
        sensitive = {fact.relation, self.lookup.in_words(fact.relation)} & _SENSITIVE
        found = {
            "unsure": doubt,
            conflict or "": 1.0 if conflict else 0.0,
            "sensitive": 1.0 if sensitive else 0.0,
            "an unsure merge": merge,
        }
        reasons = tuple(reason for reason, weight in found.items() if weight >= 0.5)
        return Doubtful(fact, sum(found.values()), reasons)

    def is_skipped(self, fact: Connection) -> bool:
        profiles = (self.lookup.things.profile(end.iri) for end in (fact.head, fact.tail))
        head, tail = map(fact_keys, profiles)
        return any(
            said.action == "skip" for said in self.journal.about_fact(head, fact.relation, tail)
        )

    def _merge_weight(self, thing: Thing) -> float:
        if thing.iri not in self.merges:
            things = self.lookup.things
            members = things.members(thing.iri)
            made = [merge for merge in map(things.merge_of, members) if merge is not None]
            least = min((merge.score for merge in made), default=1.0)
            self.merges[thing.iri] = _entropy(least) * math.log2(len(members))
        return self.merges[thing.iri]


def _facts(lookup: Lookup) -> Iterator[Connection]:
    """Every fact that nobody has decided about, with all of its documents."""
    found: dict[tuple[str, str, str], Connection] = {}
    for quad in lookup.things.changes.disk.quads_for_pattern(None, REIFIES, None, CATALOGUE):
        fact = lookup.read_statement(text_of(quad.subject))
        if fact is not None and fact.decision is None:
            known = found.get(_triple(fact))
            before = () if known is None else known.evidence
            evidence = (*before, *fact.evidence)
            found[_triple(fact)] = Connection(fact.head, fact.relation, fact.tail, evidence)
    yield from found.values()


def _entropy(score: float) -> float:
    """How many bits the answer to yes or no tells, if yes has this probability."""
    parts = (score, 1 - score)
    return -sum(part * math.log2(part) for part in parts if part > 0)


def _triple(fact: Connection) -> tuple[str, str, str]:
    return fact.head.iri, fact.relation, fact.tail.iri


def _name(fact: Connection) -> tuple[str, str, str]:
    return fact.head.name, fact.relation, fact.tail.name
