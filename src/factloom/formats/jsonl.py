"""factloom's own format: one Document a line as a JSON object, with a schema version.

Nothing is lost: scores, evidence, provenance and attributes come back as they were.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from factloom.document import (
    SCHEMA_VERSION,
    Answer,
    Document,
    Entity,
    Mention,
    MentionKind,
    Question,
    Relation,
    Sentence,
)
from factloom.files.json_records import conforming, encode, line_records
from factloom.files.report import Findings, Report
from factloom.files.source import Source

_VERSION_KEY = re.compile(r'"factloom"\s*:')
_KNOWN_KEYS = ConfigDict(strict=True, extra="forbid")
_Pair = Annotated[list[int], Field(min_length=2, max_length=2)]


class _Sentence(BaseModel):
    model_config = _KNOWN_KEYS
    start: int
    end: int
    tokens: list[_Pair] = Field(default_factory=list)


class _Mention(BaseModel):
    model_config = _KNOWN_KEYS
    start: int
    end: int
    type: str
    score: float | None = None
    name: str | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)
    kind: MentionKind = "name"


class _Entity(BaseModel):
    model_config = _KNOWN_KEYS
    mentions: list[int]
    type: str
    id: str | None = None
    score: float | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)


class _Relation(BaseModel):
    model_config = _KNOWN_KEYS
    head: int
    tail: int
    type: str
    score: float | None = None
    evidence: list[int] = Field(default_factory=list)
    provenance: dict[str, Any] = Field(default_factory=dict)
    attributes: dict[str, Any] = Field(default_factory=dict)


class _Answer(BaseModel):
    model_config = _KNOWN_KEYS
    text: str
    start: int | None = None
    score: float | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)


class _Question(BaseModel):
    model_config = _KNOWN_KEYS
    text: str
    id: str = ""
    answers: list[_Answer] | None = None
    evidence: list[int] = Field(default_factory=list)
    no_answer: float | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)


class _Document(BaseModel):
    model_config = _KNOWN_KEYS
    factloom: int
    text: str
    id: str = ""
    sentences: list[_Sentence] = Field(default_factory=list)
    mentions: list[_Mention] = Field(default_factory=list)
    entities: list[_Entity] = Field(default_factory=list)
    relations: list[_Relation] = Field(default_factory=list)
    candidates: list[_Pair] | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)
    denied: list[_Relation] = Field(default_factory=list)
    annotated: list[str] | None = None
    unknown: list[_Pair] = Field(default_factory=list)
    questions: list[_Question] = Field(default_factory=list)


_SCHEMA = TypeAdapter(_Document)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return head.lstrip().startswith("{") and _VERSION_KEY.search(head) is not None


def read(source: Source, report: Report) -> Iterator[Document]:
    for place, record in line_records(source, report):
        findings = Findings(place, report)
        if isinstance(record, dict) and isinstance(record.get("id"), str):
            findings.name_document(record["id"])
        version = record.get("factloom") if isinstance(record, dict) else None
        if isinstance(version, int) and version != SCHEMA_VERSION:
            findings.add("wrong-schema", "factloom", version=version, known=SCHEMA_VERSION)
            continue
        checked = conforming(_SCHEMA, record, findings)
        document = None if checked is None else _document(checked, findings)
        if document is not None:
            yield document


def _document(record: _Document, findings: Findings) -> Document | None:
    pairs = record.candidates
    return findings.document(
        text=record.text,
        id=record.id,
        sentences=tuple(
            Sentence(sentence.start, sentence.end, tuple((a, b) for a, b in sentence.tokens))
            for sentence in record.sentences
        ),
        mentions=tuple(Mention(**vars(mention)) for mention in record.mentions),
        entities=tuple(
            Entity(**{**vars(entity), "mentions": tuple(entity.mentions)})
            for entity in record.entities
        ),
        relations=_relations(record.relations),
        candidates=None if pairs is None else tuple((head, tail) for head, tail in pairs),
        attributes=record.attributes,
        denied=_relations(record.denied),
        annotated=None if record.annotated is None else tuple(record.annotated),
        unknown=tuple((head, tail) for head, tail in record.unknown),
        questions=tuple(map(_question, record.questions)),
    )


def _question(record: _Question) -> Question:
    answers = record.answers
    found = None if answers is None else tuple(Answer(**vars(answer)) for answer in answers)
    return Question(**{**vars(record), "answers": found, "evidence": tuple(record.evidence)})


def _relations(records: Iterable[_Relation]) -> tuple[Relation, ...]:
    return tuple(
        Relation(**{**vars(relation), "evidence": tuple(relation.evidence)}) for relation in records
    )


def write(documents: Iterable[Document]) -> Iterator[str]:
    """The lines of a file."""
    for document in documents:
        yield encode(document.to_json(), document.id) + "\n"
