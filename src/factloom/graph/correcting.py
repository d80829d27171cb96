"""What the corrections that stand make of a document.

Each of its facts is followed through the journal in order. The first correction that fits what the
fact says by then decides about it, and may make it another fact, which later corrections may fit:

    (a, father, b)  ── 3: correct, child ──►  (a, child, b)  ── 7: accept ──►  accepted

The document itself stays as the model has read it, so that all can be undone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from factloom.document import Document, Relation
from factloom.graph.corrections import Correction, Journal, Party, fact_keys, thing_keys
from factloom.graph.profiles import Profile, profiles
from factloom.graph.said import CALLED, DECISION, TYPED

Decision = Literal["accepted", "rejected", "corrected"]


@dataclass(frozen=True, slots=True)
class DecidedFact:
    """A relation as it stands after all corrections; the decision is None where there is none."""

    relation: Relation
    decision: Decision | None = None
    by: int = 0  # the number of the correction that had the last word


@dataclass(frozen=True, slots=True)
class Corrected:
    """A document and what people have made of it: `facts` are parallel to its relations."""

    document: Document
    facts: tuple[DecidedFact, ...]
    names: Mapping[int, str] = field(default_factory=dict)  # of entities that were renamed
    types: Mapping[int, str] = field(default_factory=dict)

    def as_document(self, *, rejected: bool = False) -> Document:
        """What holds, as a document; decisions, names and types are attributes."""
        found: dict[tuple[int, str, int], Relation] = {}
        for fact in self.facts:
            relation = fact.relation
            if fact.decision == "rejected" and not rejected:
                continue
            if fact.decision is not None:
                said = {**relation.attributes, DECISION: fact.decision}
                relation = replace(relation, attributes=said)
            triple = (relation.head, relation.type, relation.tail)
            if triple not in found or fact.decision is not None:  # two may have become one
                found[triple] = relation
        if not self.names and not self.types:
            return self.document.replace(relations=tuple(found.values()))
        entities = tuple(
            replace(entity, attributes={**entity.attributes, **self._said_of(index)})
            for index, entity in enumerate(self.document.entities)
        )
        return self.document.replace(relations=tuple(found.values()), entities=entities)

    def _said_of(self, entity: int) -> dict[str, str]:
        said = {CALLED: self.names.get(entity), TYPED: self.types.get(entity)}
        return {name: value for name, value in said.items() if value is not None}


def untouched(document: Document) -> Corrected:
    """A document that nobody has corrected."""
    return Corrected(document, tuple(map(DecidedFact, document.relations)))


def corrected(
    document: Document, journal: Journal, known: Sequence[Profile] | None = None
) -> Corrected:
    """The document after all corrections that stand; `known` are its profiles, if at hand."""
    if not journal.count():
        return untouched(document)
    entities = profiles(document, {}) if known is None else known
    follow = _Following([fact_keys(entity) for entity in entities], journal)
    names: dict[int, str] = {}
    types: dict[int, str] = {}
    for index, entity in enumerate(entities):
        for correction in journal.about_things(thing_keys(entity)):
            if correction.action == "rename":
                names[index] = correction.value
            elif correction.action == "retype":
                types[index] = correction.value
    facts = tuple(follow.to_the_end(relation) for relation in document.relations)
    return Corrected(document, facts, names, types)


class _Following:
    """The facts of one document on their way through the journal."""

    def __init__(self, keys: Sequence[frozenset[str]], journal: Journal) -> None:
        self.keys = keys  # of the document's entities
        self.journal = journal

    def to_the_end(self, relation: Relation) -> DecidedFact:
        fact, waiting = DecidedFact(relation), self._about(relation)
        while (said := next(waiting, None)) is not None:
            before, fact = fact, self._after(fact, said)
            if _triple(fact.relation) != _triple(before.relation):
                waiting = self._about(fact.relation, said.number)
        return fact

    def _about(self, relation: Relation, since: int = 0) -> Iterator[Correction]:
        """The corrections behind the number `since` that speak of a fact as it is, in order."""
        head, tail = self.keys[relation.head], self.keys[relation.tail]
        for correction in self.journal.about_fact(head, relation.type, tail):
            if correction.number > since and correction.action != "skip":
                yield correction

    def _after(self, fact: DecidedFact, said: Correction) -> DecidedFact:
        relation = fact.relation
        if said.action == "reject":
            return DecidedFact(relation, "rejected", said.number)
        fits = said.fact is not None and said.fact.fits(
            self.keys[relation.head], relation.type, self.keys[relation.tail]
        )
        if said.instead is None or not fits:  # it is said to hold, in the place of another even
            return DecidedFact(relation, "accepted", said.number)
        head = self._entity(said.instead.head, relation.head)
        tail = self._entity(said.instead.tail, relation.tail)
        if head is None or tail is None:  # this document does not speak of what is right
            return DecidedFact(relation, "rejected", said.number)
        other = replace(relation, head=head, tail=tail, type=said.instead.relation)
        return DecidedFact(other, "corrected", said.number)

    def _entity(self, party: Party, usual: int) -> int | None:
        """The entity that a party means in this document; the present one if it fits."""
        fitting = (i for i, keys in enumerate(self.keys) if not party.keys.isdisjoint(keys))
        return usual if not party.keys.isdisjoint(self.keys[usual]) else next(fitting, None)


def _triple(relation: Relation) -> tuple[int, str, int]:
    return relation.head, relation.type, relation.tail
