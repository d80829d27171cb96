"""Relations that agree with each other: what follows from one, and what cannot be beside it.

    inverse     whenever a(s, o) held in the training data, b(o, s) held too: father and child,
                follows and followed by, spouse and spouse
    exclusive   a(s, o) and b(s, o) are both common between such types and never met: father and
                mother, follows and followed by

Of two relations that exclude each other, also by their inverses, the less sure one is dropped; the
inverse of what is left is added, with the same score and evidence. This hardly changes F1 (see
docs/results.md), but a graph that can be read in both directions and does not contradict itself.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from pydantic import BaseModel, ConfigDict

from factloom.document import Document, Relation

MINIMUM = 20  # so often has a relation to be seen before something is learned about it
SURE = 0.99  # part of the cases in which an inverse has to hold

Fact = tuple[int, int, str]  # head, tail, relation


class Consistency(BaseModel):
    """Rules between relations, as pairs of their names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    inverses: tuple[tuple[str, str], ...] = ()  # the first implies the second, the other way round
    exclusives: tuple[tuple[str, str], ...] = ()  # in any order


def learn_consistency(documents: Iterable[Document]) -> Consistency:
    """The rules that the documents' relations keep."""
    count: Counter[str] = Counter()
    typed: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    beside: set[tuple[str, str]] = set()
    back: Counter[tuple[str, str]] = Counter()
    for document in documents:
        of_pair = _by_pair(document.relations)
        for (head, tail), found in of_pair.items():
            types = document.entities[head].type, document.entities[tail].type
            beside.update((one, other) for one in found for other in found)
            for relation in found:
                count[relation] += 1
                typed[relation][types] += 1
                back.update((relation, other) for other in of_pair.get((tail, head), ()))
    return Consistency(
        inverses=tuple(
            sorted(
                pair
                for pair, often in back.items()
                if count[pair[0]] >= MINIMUM and often >= SURE * count[pair[0]]
            )
        ),
        exclusives=tuple(
            (one, other)
            for one, other in combinations(sorted(count), 2)
            if (one, other) not in beside and (typed[one] & typed[other]).total() >= MINIMUM
        ),
    )


def agreeing(
    relations: Sequence[Relation],
    rules: Consistency,
    asked: Collection[tuple[int, int]] | None = None,
) -> tuple[Relation, ...]:
    """The relations without contradictions and with their inverses, of the `asked` pairs only."""
    kept = _without_contradictions(relations, rules)
    return _completed([r for r in relations if _fact(r) in kept], rules, asked)


def _without_contradictions(relations: Sequence[Relation], rules: Consistency) -> set[Fact]:
    """The surest relations that exclude none of each other."""
    excluded = {frozenset(pair) for pair in rules.exclusives}
    known: defaultdict[tuple[int, int], set[str]] = defaultdict(set)  # kept or implied
    kept: set[Fact] = set()
    for relation in _surest_first(relations):
        facts = [_fact(relation), *_implied(relation, rules)]
        if not any(
            frozenset((name, other)) in excluded
            for head, tail, name in facts
            for other in known[head, tail]
        ):
            kept.add(_fact(relation))
            for head, tail, name in facts:
                known[head, tail].add(name)
    return kept


def _completed(
    relations: Sequence[Relation], rules: Consistency, asked: Collection[tuple[int, int]] | None
) -> tuple[Relation, ...]:
    """With the inverses that are missing, each as sure as the surest relation that implies it."""
    found = {_fact(relation) for relation in relations}
    completed = list(relations)
    for relation in _surest_first(relations):
        for head, tail, name in _implied(relation, rules):
            if (head, tail, name) not in found and (asked is None or (head, tail) in asked):
                found.add((head, tail, name))
                completed.append(_inverse(relation, name))
    return tuple(completed)


def _inverse(relation: Relation, name: str) -> Relation:
    origin = {"model": relation.provenance.get("model"), "inverse_of": relation.type}
    head, tail = relation.tail, relation.head
    return replace(relation, head=head, tail=tail, type=name, provenance=origin)


def _implied(relation: Relation, rules: Consistency) -> Iterator[Fact]:
    for name, inverse in rules.inverses:
        if name == relation.type:
            yield relation.tail, relation.head, inverse


def _surest_first(relations: Sequence[Relation]) -> list[Relation]:
    return sorted(relations, key=lambda r: 1.0 if r.score is None else r.score, reverse=True)


def _fact(relation: Relation) -> Fact:
    return relation.head, relation.tail, relation.type


def _by_pair(relations: Iterable[Relation]) -> dict[tuple[int, int], set[str]]:
    found: defaultdict[tuple[int, int], set[str]] = defaultdict(set)
    for relation in relations:
        found[relation.head, relation.tail].add(relation.type)
    return dict(found)
