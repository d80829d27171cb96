"""What is known of an entity when it is compared with those of other documents."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from factloom.document import Document, Entity
from factloom.graph.identifiers import ENTITY, document_of_entity, entity_iris
from factloom.graph.name_keys import (
    PERSON_TYPES,
    PLACE_TYPES,
    VALUE_TYPES,
    is_name,
    name_key,
    person_key,
    surname,
    tells_who,
    value_key,
)

BELIEVED_FROM = 0.7  # the least score of a date that tells two things apart: both right, even odds


class Fact(NamedTuple):
    """A relation seen from one of its ends, in words that can be compared."""

    relation: str
    outgoing: bool  # the entity is the head
    neighbour: str
    neighbour_is_place: bool

    def __str__(self) -> str:
        arrow = "→" if self.outgoing else "←"
        return f"{self.relation} {arrow} {self.neighbour}"


class Link(NamedTuple):
    """What a linker says of an entity."""

    entity: str  # of another document, by its IRI
    score: float


@dataclass(frozen=True, slots=True)
class Profile:
    """An entity of one document: its names made comparable, and its facts.

    `identifier` is one from outside, which says for sure what it is; `link` is the entity of
    another document that a linker takes it for.
    """

    iri: str
    type: str
    label: str  # as it stands in the text
    label_key: str | None  # None for a value that means something in its own document only
    name_keys: frozenset[str]
    identifier: str | None
    facts: frozenset[Fact]
    doubted: frozenset[Fact] = frozenset()  # those that the model was not sure of
    link: Link | None = None

    @property
    def document(self) -> str:
        return document_of_entity(self.iri)

    @property
    def is_person(self) -> bool:
        return self.type.upper() in PERSON_TYPES

    @property
    def is_value(self) -> bool:
        return self.type.upper() in VALUE_TYPES

    def resembles(self, other: Self) -> bool:
        """Whether both would be merged with the same; people may be merged by their facts."""
        ours, theirs = (
            (each.type, each.label_key, each.name_keys, each.identifier, each.link)
            for each in (self, other)
        )
        same_facts = (self.facts, self.doubted) == (other.facts, other.doubted)
        return ours == theirs and (not self.is_person or same_facts)

    def telling_names(self) -> frozenset[str]:
        """The names that say by themselves what is meant: of people, more than a surname."""
        if self.is_person:
            return frozenset(key for key in self.name_keys if tells_who(key))
        return frozenset(key for key in self.name_keys if len(key) > 1)

    def comparison_keys(self) -> Iterator[str]:
        """Entities that share none of these are never compared, so that the work does not square.

        A surname alone is shared by too many: it counts together with a fact.
        """
        if self.identifier is not None:
            yield f"#{self.type.upper()} {self.identifier}"
        for name in sorted(self.telling_names()):
            yield telling_key(name)
        if self.is_person and self.label_key is not None:
            last = surname(self.label_key)
            for fact in sorted(self.facts):
                yield f"+{last} {fact}"

    def known_by(self) -> frozenset[str]:
        """What its document knows it by when it comes again with other mentions."""
        names = self.telling_names() or self.name_keys
        known = {f"{self.type.upper()} {name}" for name in names}
        if self.identifier is not None:
            known.add(f"#{self.type.upper()} {self.identifier}")
        return frozenset(known)

    def search_keys(self) -> Iterator[str]:
        """The other names by which a user may ask for the entity."""
        for name in sorted({name_key(self.label), *self.name_keys} - self.telling_names()):
            yield plain_key(name)

    def to_json(self) -> str:
        fields = [self.iri, self.type, self.label, self.label_key, sorted(self.name_keys)]
        facts = [sorted(self.facts), sorted(self.doubted)]
        links = [] if self.link is None else [self.link]
        return json.dumps([*fields, self.identifier, *facts, *links], ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        # Stores that were made before doubts were kept have none; few entities have a link.
        iri, type, label, label_key, names, identifier, *more = json.loads(text)
        facts, doubted, *links = [*more, [], []][: max(2, len(more))]
        return cls(
            iri,
            type,
            label,
            label_key,
            frozenset(names),
            identifier,
            frozenset(Fact(*fact) for fact in facts),
            frozenset(Fact(*fact) for fact in doubted),
            Link(*links[0]) if links else None,
        )


def telling_key(name: str) -> str:
    """The key of a name that says by itself what is meant."""
    return f"={name}"


def plain_key(name: str) -> str:
    """The key of any other name, such as a surname."""
    return f"~{name}"


def profiles(document: Document, relation_names: Mapping[str, str]) -> list[Profile]:
    """A profile for each entity of the document."""
    labels = [document.name(index) for index in range(len(document.entities))]
    types = [entity.type for entity in document.entities]
    keys = [_key(label, type) for label, type in zip(labels, types, strict=True)]
    facts, believed = _facts(document, relation_names, keys)
    return [
        Profile(
            iri=iri,
            type=types[index],
            label=labels[index],
            label_key=keys[index],
            name_keys=_name_keys(document.names(index), keys[index], types[index]),
            identifier=_from_outside(document.entities[index].id),
            facts=frozenset(facts[index]),
            doubted=frozenset(facts[index] - believed[index]),
            link=_link(document.entities[index]),
        )
        for index, iri in enumerate(entity_iris(document))
    ]


def _from_outside(identifier: str | None) -> str | None:
    own = identifier is not None and identifier.startswith(ENTITY)
    return None if own else identifier


def _link(entity: Entity) -> Link | None:
    """The entity of a graph that the identifier names, with the score that a linker gave it."""
    if entity.id is None or not entity.id.startswith(ENTITY):
        return None
    scores = {each.get("id"): each.get("score") for each in entity.link_candidates}
    score = scores.get(entity.id)
    return Link(entity.id, 1.0 if score is None else float(score))


def _facts(
    document: Document, relation_names: Mapping[str, str], keys: Sequence[str | None]
) -> tuple[list[set[Fact]], list[set[Fact]]]:
    """The facts of each entity, and those of them that are believed."""
    facts: list[set[Fact]] = [set() for _ in document.entities]
    believed: list[set[Fact]] = [set() for _ in document.entities]
    for relation in document.relations:
        name = relation_names.get(relation.type, relation.type)
        is_believed = relation.score is None or relation.score >= BELIEVED_FROM
        ends = ((relation.head, relation.tail, True), (relation.tail, relation.head, False))
        for entity, neighbour, outgoing in ends:
            key = keys[neighbour]
            if key is None:
                continue
            is_place = document.entities[neighbour].type.upper() in PLACE_TYPES
            fact = Fact(name, outgoing, key, is_place)
            facts[entity].add(fact)
            if is_believed:
                believed[entity].add(fact)
    return facts, believed


def _name_keys(names: tuple[str, ...], label_key: str | None, type: str) -> frozenset[str]:
    if type.upper() in VALUE_TYPES:
        return frozenset() if label_key is None else frozenset({label_key})
    keys = (_key(name, type) for name in names if is_name(name))
    return frozenset(key for key in keys if key is not None)


def _key(name: str, type: str) -> str | None:
    if type.upper() in VALUE_TYPES:
        return value_key(name)
    return person_key(name) if type.upper() in PERSON_TYPES else name_key(name)
