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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, Self

from factloom.annotations import CANDIDATES as CANDIDATES
from factloom.annotations import Entity as Entity
from factloom.annotations import Mention as Mention
from factloom.annotations import MentionKind as MentionKind
from factloom.annotations import Relation as Relation
from factloom.annotations import Sentence as Sentence
from factloom.annotations import Span as Span
from factloom.annotations import contradictions, label_flaws, pair_flaws, relation_flaws
from factloom.errors import DocumentError, Flaw, Place, flaw
from factloom.questions import Answer as Answer
from factloom.questions import Question as Question
from factloom.questions import question_flaws

SCHEMA_VERSION = 1

_SHOWN = 60  # characters of the text, where a document is printed


class Fact(NamedTuple):
    """A relation of a document in words, for people and tables."""

    head: str
    relation: str
    tail: str
    score: float | None
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A text and what is known about it.

    `candidates` are the ordered pairs of two entities whose relation is asked for, each once;
    `None` means all.
    `questions` are asked about the text, see factloom.questions.
    `attributes` keep what a source format has and factloom does not use.

    Relations may be annotated in parts. A cell (head, tail, type) is positive if it is among
    `relations`, negative if it is among `denied` (what the text says is not so: negated, planned,
    somebody else's), else unknown if its pair is among `unknown` or its type is not among
    `annotated` (`None`: all types; none: only what is stated is known), else negative.
    """

    text: str
    id: str = ""
    sentences: tuple[Sentence, ...] = ()
    mentions: tuple[Mention, ...] = ()
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    candidates: tuple[tuple[int, int], ...] | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    denied: tuple[Relation, ...] = ()
    annotated: tuple[str, ...] | None = None
    unknown: tuple[tuple[int, int], ...] = ()
    questions: tuple[Question, ...] = ()

    def __post_init__(self) -> None:
        for found in flaws(self):
            raise DocumentError(found)

    def replace(self, **changes: Any) -> Self:
        """A document with some fields exchanged, checked anew."""
        return dataclasses.replace(self, **changes)

    def without_mentions(self) -> Self:
        """The text and its sentences alone: no mentions, and nothing that is made of them."""
        return self.without_relations().replace(mentions=(), entities=(), candidates=None)

    def without_relations(self) -> Self:
        """The document before anything was said about the relations of its entities."""
        return self.replace(relations=(), denied=(), annotated=None, unknown=())

    def without_links(self) -> Self:
        """The document before anybody said what its entities are outside of it."""
        return self.replace(entities=tuple(entity.without_link() for entity in self.entities))

    def named(self) -> Self:
        """The document without pronouns and nominals, and without what has no name at all."""
        return self.keeping(
            index for index, mention in enumerate(self.mentions) if mention.kind == "name"
        )

    def keeping(self, mentions: Iterable[int]) -> Self:
        """The document with these mentions alone, and without what has none of them."""
        names = sorted(set(mentions))
        if len(names) == len(self.mentions):
            return self
        mention_index = {index: place for place, index in enumerate(names)}
        kept = {
            number: tuple(mention_index[m] for m in entity.mentions if m in mention_index)
            for number, entity in enumerate(self.entities)
        }
        numbers = [number for number, own in kept.items() if own]
        entity_index = {number: place for place, number in enumerate(numbers)}

        def pairs(found: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
            return tuple(
                (entity_index[head], entity_index[tail])
                for head, tail in found
                if head in entity_index and tail in entity_index
            )

        def between_kept(relations: Iterable[Relation]) -> tuple[Relation, ...]:
            return tuple(
                dataclasses.replace(r, head=entity_index[r.head], tail=entity_index[r.tail])
                for r in relations
                if r.head in entity_index and r.tail in entity_index
            )

        return self.replace(
            mentions=tuple(self.mentions[index] for index in names),
            entities=tuple(
                dataclasses.replace(self.entities[number], mentions=kept[number])
                for number in numbers
            ),
            relations=between_kept(self.relations),
            denied=between_kept(self.denied),
            candidates=None if self.candidates is None else pairs(self.candidates),
            unknown=pairs(self.unknown),
        )

    def without_answers(self) -> Self:
        """The document before anybody answered the questions about it."""
        return self.replace(questions=tuple(asked.without_answers() for asked in self.questions))

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
        """The entity's longest name on one line, the first in the text where several are."""
        mentions = [self.mentions[index] for index in self._naming(entity)]
        mentions.sort(key=lambda mention: mention.start)
        return max((_on_one_line(self.text[m.start : m.end]) for m in mentions), key=len)

    def names(self, entity: int) -> tuple[str, ...]:
        """All names of the entity on one line, each once, in the order of its mentions."""
        mentions = self._naming(entity)
        return tuple(dict.fromkeys(_on_one_line(self.mention_name(index)) for index in mentions))

    def _naming(self, entity: int) -> tuple[int, ...]:
        """The entity's mentions by name; all where it has none."""
        mentions = self.entities[entity].mentions
        return tuple(m for m in mentions if self.mentions[m].kind == "name") or mentions

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

    def facts(self, relation_names: Mapping[str, str] | None = None) -> list[Fact]:
        """The relations by the names of their entities; `relation_names` are those in words."""
        words = relation_names or {}
        return [
            Fact(
                self.name(relation.head),
                words.get(relation.type, relation.type),
                self.name(relation.tail),
                relation.score,
                tuple(self.sentence_text(sentence) for sentence in relation.evidence),
            )
            for relation in self.relations
        ]

    def __repr__(self) -> str:
        text = " ".join(self.text[: 2 * _SHOWN].split())
        shown = repr(f"{text[:_SHOWN]}..." if len(text) > _SHOWN else text)
        parts = ("sentences", "mentions", "entities", "relations", "questions")
        counts = [f"{len(getattr(self, part))} {part}" for part in parts if getattr(self, part)]
        return f"<Document {self.id!r}: {', '.join([shown, *counts])}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists, texts and numbers; `from_json` reads them again."""
        return self.to_json()

    def to_json(self) -> dict[str, Any]:
        """A plain object for JSON; fields that hold their default are left out."""
        return {"factloom": SCHEMA_VERSION, **_without_defaults(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The reverse of `to_json`. The caller has checked keys and types (formats/jsonl.py)."""
        pairs, annotated = data.get("candidates"), data.get("annotated")
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
            relations=_relations_from_json(data.get("relations", ())),
            candidates=None if pairs is None else tuple((h, t) for h, t in pairs),
            attributes=data.get("attributes", {}),
            denied=_relations_from_json(data.get("denied", ())),
            annotated=None if annotated is None else tuple(annotated),
            unknown=tuple((h, t) for h, t in data.get("unknown", ())),
            questions=tuple(map(Question.from_json, data.get("questions", ()))),
        )


def _relations_from_json(data: Iterable[Mapping[str, Any]]) -> tuple[Relation, ...]:
    return tuple(Relation(**{**r, "evidence": tuple(r.get("evidence", ()))}) for r in data)


_BROKEN_CHINESE = re.compile("(?<=[\u3400-\u9fff])[^\\S\\n\\r]*[\\n\\r]\\s*(?=[\u3400-\u9fff])")


def _on_one_line(name: str) -> str:
    """The name without line ends and indents inside; one of white space alone stays as it is."""
    return " ".join(_BROKEN_CHINESE.sub("", name).split()) or name


_fields_of = lru_cache(dataclasses.fields)  # it works them out anew each time


def _without_defaults(value: Any) -> dict[str, Any]:
    result = {}
    for part in _fields_of(type(value)):
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
    entities, sentences = len(document.entities), len(document.sentences)
    for part, relations in (("relation", document.relations), ("denied", document.denied)):
        yield from relation_flaws(relations, entities, sentences, document.id, part)
    yield from contradictions(document.relations, document.denied, document.id)
    yield from pair_flaws(document.candidates or (), entities, document.id, "candidate")
    yield from pair_flaws(document.unknown, entities, document.id, "unknown pair")
    yield from question_flaws(document.questions, document.text, sentences, document.id)
    for index, type in enumerate(document.annotated or ()):
        place = Place(document=document.id, part=f"annotated {index}")
        yield from label_flaws(place, "relation", type, None)


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
        yield from label_flaws(place, "mention", mention.type, mention.score)


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
        yield from label_flaws(place, "entity", entity.type, entity.score)
