"""The one data model that flows through everything.

A `Document` enters as text or tokens and leaves with mentions, entities and relations added.
Gold and predicted things live in the same classes, so evaluation compares two Documents.
Offsets are half-open characters into `Document.text`, everywhere.

    >>> document = Document(
    ...     text="Ada Lovelace was born in London.",
    ...     sentences=(Sentence(0, 32),),
    ...     mentions=(Mention(0, 12, "PER"), Mention(25, 31, "LOC")),
    ...     entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
    ...     relations=(Relation(head=0, tail=1, type="P19", evidence=(0,)),),
    ... )
    >>> document.name(document.relations[0].tail)
    'London'

Everything is immutable: a component returns `document.replace(relations=...)`. A Document
checks itself when it is made, so that whoever holds one can rely on its offsets and indices.
"""

import dataclasses
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from factloom.errors import DocumentError, Flaw, Place, flaw

SCHEMA_VERSION = 1

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of the text; `tokens` are spans of the text too, where the source has tokens."""

    start: int
    end: int
    tokens: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of the text that names something.

    `name` is the source's own spelling where that differs from the text (DocRED has a few).
    """

    start: int
    end: int
    type: str
    score: float | None = None
    name: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entity:
    """All mentions of one thing: indices into `Document.mentions`, in the source's order."""

    mentions: tuple[int, ...]
    type: str
    id: str | None = None  # an identifier outside the document: MeSH, Wikidata, ...
    score: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True)
class Document:
    """A text and what is known about it.

    `candidates` are the ordered pairs of two entities whose relation is asked for, each once;
    `None` means all.
    `attributes` keep what a source format has and factloom does not use.
    """

    text: str
    id: str = ""
    sentences: tuple[Sentence, ...] = ()
    mentions: tuple[Mention, ...] = ()
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    candidates: tuple[tuple[int, int], ...] | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for found in flaws(self):
            raise DocumentError(found)

    def replace(self, **changes: Any) -> Self:
        """The same document with some fields exchanged."""
        return dataclasses.replace(self, **changes)

    def without_mentions(self) -> Self:
        """The text and its sentences alone: no mentions, and nothing that is made of them."""
        return self.replace(mentions=(), entities=(), relations=(), candidates=None)

    @property
    def source(self) -> str | None:
        """The path or address that the text came from, where that is known."""
        source = self.attributes.get("source")
        return source if isinstance(source, str) else None

    @property
    def tokens(self) -> tuple[Span, ...]:
        """The tokens of all sentences; empty where the source had none."""
        return tuple(token for sentence in self.sentences for token in sentence.tokens)

    def mention_text(self, mention: int) -> str:
        """The mention as it stands in the text."""
        found = self.mentions[mention]
        return self.text[found.start : found.end]

    def mention_name(self, mention: int) -> str:
        """The source's own name of the mention, else its text."""
        return self.mentions[mention].name or self.mention_text(mention)

    def name(self, entity: int) -> str:
        """The entity's longest mention on one line, the first in the text where several are."""
        mentions = [self.mentions[index] for index in self.entities[entity].mentions]
        mentions.sort(key=lambda mention: mention.start)
        return max((_on_one_line(self.text[m.start : m.end]) for m in mentions), key=len)

    def names(self, entity: int) -> tuple[str, ...]:
        """All names of the entity on one line, each once, in the order of its mentions."""
        mentions = self.entities[entity].mentions
        return tuple(dict.fromkeys(_on_one_line(self.mention_name(index)) for index in mentions))

    def sentence_at(self, offset: int) -> int | None:
        """The sentence that holds the character at `offset`."""
        index = bisect_right(self.sentences, offset, key=lambda sentence: sentence.start) - 1
        if index >= 0 and offset < self.sentences[index].end:
            return index
        return None

    def sentence_text(self, sentence: int) -> str:
        found = self.sentences[sentence]
        return self.text[found.start : found.end]

    def entity_sentences(self, entity: int) -> frozenset[int]:
        """The sentences in which the entity is mentioned."""
        starts = (self.mentions[mention].start for mention in self.entities[entity].mentions)
        sentences = (self.sentence_at(start) for start in starts)
        return frozenset(sentence for sentence in sentences if sentence is not None)

    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The ordered entity pairs whose relation is asked for."""
        if self.candidates is not None:
            return self.candidates
        count = len(self.entities)
        return tuple((h, t) for h in range(count) for t in range(count) if h != t)

    def to_json(self) -> dict[str, Any]:
        """A plain object for JSON; fields that hold their default are left out."""
        return {"factloom": SCHEMA_VERSION, **_without_defaults(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The reverse of `to_json`. The caller has checked keys and types (formats/jsonl.py)."""
        pairs = data.get("candidates")
        return cls(
            text=data["text"],
            id=data.get("id", ""),
            sentences=tuple(
                Sentence(s["start"], s["end"], tuple((a, b) for a, b in s.get("tokens", ())))
                for s in data.get("sentences", ())
            ),
            mentions=tuple(Mention(**m) for m in data.get("mentions", ())),
            entities=tuple(
                Entity(**{**e, "mentions": tuple(e["mentions"])}) for e in data.get("entities", ())
            ),
            relations=tuple(
                Relation(**{**r, "evidence": tuple(r.get("evidence", ()))})
                for r in data.get("relations", ())
            ),
            candidates=None if pairs is None else tuple((h, t) for h, t in pairs),
            attributes=data.get("attributes", {}),
        )


_BROKEN_CHINESE = re.compile("(?<=[\u3400-\u9fff])[^\\S\\n\\r]*[\\n\\r]\\s*(?=[\u3400-\u9fff])")


def _on_one_line(name: str) -> str:
    """The name without line ends and indents inside; one of white space alone stays as it is."""
    return " ".join(_BROKEN_CHINESE.sub("", name).split()) or name


def _without_defaults(value: Any) -> dict[str, Any]:
    result = {}
    for part in dataclasses.fields(value):
        content = getattr(value, part.name)
        factory = part.default_factory
        if content == (part.default if factory is dataclasses.MISSING else factory()):
            continue
        if isinstance(content, tuple):
            content = [
                _without_defaults(item) if dataclasses.is_dataclass(item) else item
                for item in content
            ]
        result[part.name] = content
    return result


def flaws(document: Document) -> Iterator[Flaw]:
    """Every way in which the parts of a document do not fit together."""
    yield from _text_flaws(document)
    yield from _span_flaws(document)
    yield from _mention_flaws(document)
    yield from _entity_flaws(document)
    yield from _relation_flaws(document)
    yield from _candidate_flaws(document)


def _text_flaws(document: Document) -> Iterator[Flaw]:
    try:
        if not document.text.isascii():
            document.text.encode()
    except UnicodeEncodeError as error:  # UTF-8 has a place for every character, not for halves
        yield flaw("half-character", Place(document=document.id), offset=error.start)


def _span_flaws(document: Document) -> Iterator[Flaw]:
    length = len(document.text)
    last_end = 0
    for index, sentence in enumerate(document.sentences):
        place = Place(document=document.id, part=f"sentence {index}")
        span = {"start": sentence.start, "end": sentence.end}
        if not 0 <= sentence.start <= sentence.end <= length:
            yield flaw("span-outside-text", place, **span, length=length)
        elif sentence.start < last_end:
            yield flaw("sentences-out-of-order", place, sentence=index, **span)
        last_end = sentence.end
        last_token_end = sentence.start
        for start, end in sentence.tokens:
            if not last_token_end <= start <= end <= sentence.end:
                yield flaw(
                    "token-outside-sentence",
                    place,
                    start=start,
                    end=end,
                    sentence_start=sentence.start,
                    sentence_end=sentence.end,
                )
            last_token_end = end


def _mention_flaws(document: Document) -> Iterator[Flaw]:
    length = len(document.text)
    for index, mention in enumerate(document.mentions):
        place = Place(document=document.id, part=f"mention {index}")
        if not 0 <= mention.start < mention.end <= length:
            span = {"start": mention.start, "end": mention.end}
            yield flaw("span-outside-text", place, **span, length=length)
        elif document.mention_text(index).isspace() and not _holds_token(document, mention):
            yield flaw("blank-mention", place)
        yield from _label_flaws(place, "mention", mention.type, mention.score)


def _holds_token(document: Document, mention: Mention) -> bool:
    """Whether it holds one of the source's own tokens, which may be white space or empty."""
    return any(mention.start <= start and end <= mention.end for start, end in document.tokens)


def _entity_flaws(document: Document) -> Iterator[Flaw]:
    count = len(document.mentions)
    for index, entity in enumerate(document.entities):
        place = Place(document=document.id, part=f"entity {index}")
        if not entity.mentions:
            yield flaw("empty-entity", place)
        for mention in entity.mentions:
            if not 0 <= mention < count:
                yield flaw("dangling-mention", place, mention=mention, count=count)
        yield from _label_flaws(place, "entity", entity.type, entity.score)


def _relation_flaws(document: Document) -> Iterator[Flaw]:
    entities, sentences = len(document.entities), len(document.sentences)
    seen = set()
    for index, relation in enumerate(document.relations):
        place = Place(document=document.id, part=f"relation {index}")
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
        yield from _label_flaws(place, "relation", relation.type, relation.score)


def _candidate_flaws(document: Document) -> Iterator[Flaw]:
    entities = len(document.entities)
    seen = set()
    for index, (head, tail) in enumerate(document.candidates or ()):
        place = Place(document=document.id, part=f"candidate {index}")
        for role, entity in (("head", head), ("tail", tail)):
            if not 0 <= entity < entities:
                yield flaw("dangling-entity", place, role=role, entity=entity, count=entities)
        if head == tail:
            yield flaw("self-candidate", place, entity=head)
        if (head, tail) in seen:
            yield flaw("duplicate-candidate", place, head=head, tail=tail)
        seen.add((head, tail))


def _label_flaws(place: Place, part: str, label: str, score: float | None) -> Iterator[Flaw]:
    if not label:
        yield flaw("missing-label", place, part=part)
    if score is not None and not 0.0 <= score <= 1.0:
        yield flaw("score-out-of-range", place, score=score)
