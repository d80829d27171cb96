"""What is annotated in a text: sentences, mentions, entities and relations, as a Document has them.

Each is plain and immutable, and means something only in its Document, whose offsets and indices it
holds. `*_flaws` tell what does not fit together; a Document asks them when it is made.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from factloom.errors import Flaw, Place, flaw

CANDIDATES = "candidates"  # the attribute of an entity with what a linker takes it for

Span = tuple[int, int]
MentionKind = Literal["name", "nominal", "pronoun"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of the text; `tokens` are spans of the text too, where the source has tokens."""

    start: int
    end: int
    tokens: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of the text that stands for something: by a name, a nominal or a pronoun.

    `name` is the source's own spelling where that differs from the text (DocRED has a few);
    "the company" is a nominal, "she" a pronoun.
    """

    start: int
    end: int
    type: str
    score: float | None = None
    name: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    kind: MentionKind = "name"


@dataclass(frozen=True, slots=True)
class Entity:
    """All mentions of one thing: indices into `Document.mentions`, in the source's order."""

    mentions: tuple[int, ...]
    type: str
    id: str | None = None  # an identifier outside the document: MeSH, Wikidata, ...
    score: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def link_candidates(self) -> tuple[Mapping[str, Any], ...]:
        """What it may be by a linker's judgement, the best first; empty where none was asked."""
        found = self.attributes.get(CANDIDATES)
        return tuple(found) if isinstance(found, list | tuple) else ()

    def without_link(self) -> Self:
        """The entity without its identifier, and without what a linker said."""
        others = {key: value for key, value in self.attributes.items() if key != CANDIDATES}
        return dataclasses.replace(self, id=None, attributes=others)


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed, typed link between two entities (indices into `Document.entities`).

    `evidence` are the sentences that prove it; `score` is a probability, `None` for gold;
    `provenance` says where a predicted relation comes from (model, bridge entities, ...).
    """

    head: int
    tail: int
    type: str
    score: float | None = None
    evidence: tuple[int, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)


# --- flaws -----------------------------------------------------------------------------------


def relation_flaws(
    relations: Iterable[Relation], entities: int, sentences: int, document: str, part: str
) -> Iterator[Flaw]:
    """What is wrong with the relations of a document that has so many entities and sentences."""
    seen = set()
    for index, relation in enumerate(relations):
        place = Place(document=document, part=f"{part} {index}")
        for role, entity in (("head", relation.head), ("tail", relation.tail)):
            if not 0 <= entity < entities:
                yield flaw("dangling-entity", place, role=role, entity=entity, count=entities)
        for sentence in relation.evidence:
            if not 0 <= sentence < sentences:
                yield flaw("dangling-sentence", place, sentence=sentence, count=sentences)
        triple = {"type": relation.type, "head": relation.head, "tail": relation.tail}
        if tuple(triple.values()) in seen:
            yield flaw("duplicate-relation", place, **triple)
        seen.add(tuple(triple.values()))
        yield from label_flaws(place, "relation", relation.type, relation.score)


def contradictions(
    relations: Iterable[Relation], denied: Iterable[Relation], document: str
) -> Iterator[Flaw]:
    """Relations that are stated and denied."""
    stated = {(relation.head, relation.tail, relation.type) for relation in relations}
    for index, relation in enumerate(denied):
        if (relation.head, relation.tail, relation.type) in stated:
            place = Place(document=document, part=f"denied {index}")
            ends = {"head": relation.head, "tail": relation.tail}
            yield flaw("stated-and-denied", place, type=relation.type, **ends)


def pair_flaws(
    pairs: Iterable[tuple[int, int]], entities: int, document: str, part: str
) -> Iterator[Flaw]:
    """What is wrong with pairs of so many entities."""
    seen = set()
    for index, (head, tail) in enumerate(pairs):
        place = Place(document=document, part=f"{part} {index}")
        for role, entity in (("head", head), ("tail", tail)):
            if not 0 <= entity < entities:
                yield flaw("dangling-entity", place, role=role, entity=entity, count=entities)
        if head == tail:
            yield flaw("self-pair", place, entity=head)
        if (head, tail) in seen:
            yield flaw("duplicate-pair", place, head=head, tail=tail)
        seen.add((head, tail))


def label_flaws(place: Place, part: str, label: str, score: float | None) -> Iterator[Flaw]:
    """What is wrong with the label of a part, and with its score."""
    if not label:
        yield flaw("missing-label", place, part=part)
    if score is not None and not 0.0 <= score <= 1.0:
        yield flaw("score-out-of-range", place, score=score)
