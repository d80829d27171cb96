"""Relations that agree with each other: what follows from one, and what cannot be beside it.

Learned from the relations of the training data:

    inverse     whenever a(s, o) held, b(o, s) held too: father and child, spouse and spouse
    exclusive   a(s, o) and b(s, o) are both common between such types and never met: father and
                mother, follows and followed by
    single      nearly every s has one o: date of birth, country. Two names of one thing, such as
                Sweden and Swedish, count as one.
    companion   b(s, o) held only together with a(s, o), a single relation, wherever o was the
                value of some a: who lies in a country has it for a country

Of what contradicts each other, also by inverses, the surest is kept, and with what is dropped go
its companions. The inverses of what is left are added, with the same score and evidence. The gain
in F1 is small (docs/results.md); the graph can be read in both directions and does not contradict
itself.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import combinations, product

from pydantic import BaseModel, ConfigDict

from factloom.document import Document, Relation
from factloom.text.demonyms import country_of

MINIMUM = 20  # so often has a relation to be seen before something is learned about it
ALWAYS = 0.99  # part of the cases in which an inverse has to hold
NEARLY_ALWAYS = 0.9  # part of the cases for single relations and for companions

Fact = tuple[int, int, str]  # head, tail, relation
RelationPair = tuple[str, str]


class Consistency(BaseModel):
    """Rules between relations, by their names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    inverses: tuple[RelationPair, ...] = ()  # the first implies the second, the other way round
    exclusives: tuple[RelationPair, ...] = ()  # in any order
    singles: tuple[str, ...] = ()
    companions: tuple[RelationPair, ...] = ()  # the second holds only with the first, a single one


def learn_consistency(documents: Iterable[Document]) -> Consistency:
    """The rules that the relations keep in documents that are annotated for whole types of them."""
    seen = _Seen()
    for document in documents:
        if document.annotated != () and not document.unknown:
            seen.add(document)
    return seen.rules()


@dataclass(slots=True)
class _Seen:
    """How often relations were seen, alone and together."""

    count: Counter[str] = field(default_factory=Counter)
    types: defaultdict[str, Counter[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    back: Counter[RelationPair] = field(default_factory=Counter)  # a(s, o) and b(o, s)
    beside: Counter[RelationPair] = field(default_factory=Counter)  # a(s, o) and b(s, o)
    could_be_beside: Counter[RelationPair] = field(default_factory=Counter)  # some a(., o), b(s, o)
    heads: Counter[str] = field(default_factory=Counter)
    heads_of_one: Counter[str] = field(default_factory=Counter)

    def add(self, document: Document) -> None:
        of_pair: defaultdict[tuple[int, int], set[str]] = defaultdict(set)
        values: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
        leading: defaultdict[int, set[str]] = defaultdict(set)  # to an entity
        for relation in document.relations:
            of_pair[relation.head, relation.tail].add(relation.type)
            values[relation.head, relation.type].append(relation.tail)
            leading[relation.tail].add(relation.type)
        for (head, tail), found in of_pair.items():
            for name in found:
                self.count[name] += 1
                self.types[name][document.entities[head].type, document.entities[tail].type] += 1
                self.back.update((name, other) for other in of_pair.get((tail, head), ()))
            self.beside.update(product(found, found))
            self.could_be_beside.update(product(leading[tail], found))
        for (_, name), tails in values.items():
            self.heads[name] += 1
            self.heads_of_one[name] += all(_same_thing(document, tails[0], t) for t in tails[1:])

    def rules(self) -> Consistency:
        singles = [
            name
            for name in sorted(self.heads)
            if self.heads[name] >= MINIMUM
            and self.heads_of_one[name] >= NEARLY_ALWAYS * self.heads[name]
        ]
        return Consistency(
            inverses=tuple(
                (name, other)
                for (name, other), often in sorted(self.back.items())
                if self.count[name] >= MINIMUM and often >= ALWAYS * self.count[name]
            ),
            exclusives=tuple(
                (one, other)
                for one, other in combinations(sorted(self.count), 2)
                if not self.beside[one, other]
                and (self.types[one] & self.types[other]).total() >= MINIMUM
            ),
            singles=tuple(singles),
            companions=tuple(
                pair
                for pair, often in sorted(self.could_be_beside.items())
                if pair[0] in singles
                and pair[0] != pair[1]
                and often >= MINIMUM
                and self.beside[pair] >= NEARLY_ALWAYS * often
            ),
        )


def agreeing(
    document: Document, relations: Sequence[Relation], rules: Consistency
) -> tuple[Relation, ...]:
    """The relations without contradictions and with their inverses, of the asked pairs only."""
    return with_inverses(document, without_contradictions(document, relations, rules), rules)


def without_contradictions(
    document: Document, relations: Sequence[Relation], rules: Consistency
) -> list[Relation]:
    """Of what contradicts each other only the surest."""
    kept = _Kept(document, rules)
    for relation in _surest_first(relations):
        kept.add_unless_contradicted(relation)
    kept.remove_companions_of_the_dropped(relations)
    return [relation for relation in relations if _fact(relation) in kept.facts]


class _Kept:
    """What is kept of a document's relations, so far."""

    def __init__(self, document: Document, rules: Consistency) -> None:
        self.rules = rules
        self.facts: set[Fact] = set()
        self.of_pair: defaultdict[tuple[int, int], set[str]] = defaultdict(set)  # and implied ones
        self.values: defaultdict[tuple[int, str], set[int]] = defaultdict(set)  # likewise
        self.excluded = {frozenset(pair) for pair in rules.exclusives}
        self.same_thing = cache(partial(_same_thing, document))

    def add_unless_contradicted(self, relation: Relation) -> None:
        said = [_fact(relation), *_implied(relation, self.rules)]
        if not any(self._contradicts(*fact) for fact in said):
            self.facts.add(_fact(relation))
            for head, tail, name in said:
                self.of_pair[head, tail].add(name)
                self.values[head, name].add(tail)

    def _contradicts(self, head: int, tail: int, name: str) -> bool:
        if any(frozenset((name, other)) in self.excluded for other in self.of_pair[head, tail]):
            return True
        return name in self.rules.singles and self._has_another(head, tail, name)

    def _has_another(self, head: int, tail: int, name: str) -> bool:
        """Whether the head has a value that is another thing."""
        others = self.values[head, name] - {tail}
        return any(not self.same_thing(tail, other) for other in others)

    def remove_companions_of_the_dropped(self, relations: Iterable[Relation]) -> None:
        dropped = {_fact(relation) for relation in relations} - self.facts
        self.facts -= {
            (head, tail, companion)
            for head, tail, name in dropped
            for single, companion in self.rules.companions
            if single == name
        }


def with_inverses(
    document: Document, relations: Sequence[Relation], rules: Consistency
) -> tuple[Relation, ...]:
    """With the inverses that are missing, each as sure as the surest relation that implies it."""
    asked = None if document.candidates is None else frozenset(document.candidates)
    found = {_fact(relation) for relation in relations}
    completed = list(relations)
    for relation in _surest_first(relations):
        for head, tail, name in _implied(relation, rules):
            if (head, tail, name) not in found and (asked is None or (head, tail) in asked):
                found.add((head, tail, name))
                completed.append(_inverse(relation, name))
    return tuple(completed)


def with_denied_causes(document: Document, rules: Consistency) -> Document:
    """What would bring a denied relation back, by its inverse, is denied with it."""
    known = {_fact(relation) for relation in (*document.denied, *document.relations)}
    causes = [
        Relation(relation.tail, relation.head, name)
        for relation in document.denied
        for name, inverse in rules.inverses
        if inverse == relation.type and (relation.tail, relation.head, name) not in known
    ]
    return document.replace(denied=(*document.denied, *causes)) if causes else document


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


def _same_thing(document: Document, one: int, other: int) -> bool:
    """Whether two entities have names that may mean the same: 2004 and 3 May 2004."""
    return any(
        _may_mean_the_same(name, another)
        for name in _names(document, one)
        for another in _names(document, other)
    )


def _may_mean_the_same(one: str, other: str) -> bool:
    words, others = set(one.casefold().split()), set(other.casefold().split())
    country = country_of(one)
    return (
        words <= others or others <= words or (country is not None and country == country_of(other))
    )


def _names(document: Document, entity: int) -> set[str]:
    """As the text has them; a source's own names are nothing that a prediction knows."""
    return {
        document.mention_text(index)
        for index in document.entities[entity].mentions
        if document.mentions[index].kind == "name"
    }
