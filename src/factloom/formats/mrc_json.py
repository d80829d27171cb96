"""MRC: each type of entity is a question about a sentence, its entities are the answers.

    {"context": "EU rejects German call", "qas_id": "0.1", "entity_label": "ORG",
     "query": "organizations are companies, ...", "impossible": false,
     "start_position": [0], "end_position": [0], "span_position": ["0;0"]}

A context is words joined by spaces, also where the words are Chinese characters; positions are
words, the last one included. Questions with the same part of `qas_id` in front of the full stop
are about one document.

Li et al., A Unified MRC Framework for Named Entity Recognition, ACL 2020.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from factloom.document import Document, Mention, Sentence
from factloom.errors import DocumentError, Place
from factloom.files.json_records import array_pieces, conforming, first_records, records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.document_ids import told_apart
from factloom.formats.options import Names
from factloom.text.tokens import join_tokens, mention_tokens, separator_of, tokenised_sentences

_WORD = re.compile(r"[^ ]+")
_SPAN = re.compile(r"([0-9]{1,9});([0-9]{1,9})")
_ANSWERS = ("start_position", "end_position", "span_position", "impossible")


class WriteOptions(BaseModel):
    """`types`: what to ask about documents that do not come from a file of this format."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    types: Names = ()


class _Question(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    context: str
    qas_id: str
    entity_label: str
    query: str = ""
    start_position: list[int] = Field(default_factory=list)
    end_position: list[int] = Field(default_factory=list)
    span_position: list[str] = Field(default_factory=list)
    impossible: bool = True


_SCHEMA = TypeAdapter(_Question)
_KEPT = TypeAdapter(list[dict[str, Any]])


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return any(
        isinstance(record, dict) and record.keys() >= {"context", "qas_id", "entity_label"}
        for record in first_records(head)
    )


def read(source: Source, report: Report) -> Iterator[Document]:
    heads = [record for record in first_records(source.head()) if isinstance(record, dict)]
    separator = separator_of(word for record in heads for word in _words(record.get("context")))
    for identifier, group in groupby(_numbered(source, report), key=lambda item: item[0]):
        findings = Findings(source.place, report)
        findings.name_document(identifier)
        questions = [(place, question) for _, place, question in group]
        document = _document(questions, separator, findings)
        if document is not None:
            yield document


def _numbered(source: Source, report: Report) -> Iterator[tuple[str, Place, _Question]]:
    """Each good question with the id of its document."""
    for place, record in records(source, report):
        checked = conforming(_SCHEMA, record, Findings(place, report))
        if checked is not None:
            yield _document_id(checked.qas_id), place, checked


def _document_id(question_id: str) -> str:
    return question_id.rpartition(".")[0] or question_id


def _words(context: object) -> list[str]:
    """The words of a context; without any space the characters of Chinese are its words."""
    text = context if isinstance(context, str) else ""
    return list(text) if " " not in text and not separator_of(text) else text.split(" ")


def _document(
    questions: list[tuple[Place, _Question]], separator: str, findings: Findings
) -> Document | None:
    context = questions[0][1].context
    text, sentences = join_tokens([_words(context)], separator)
    mentions: dict[tuple[int, int, str], Mention] = {}
    for place, question in questions:
        if question.context != context:
            part = ", ".join(filter(None, (place.part, "context")))
            identifier = findings.place.document
            findings.add("other-context", part, place.line, identifier=identifier)
        for start, end in _answers(question, place, sentences[0], findings):
            key = (start, end, question.entity_label)
            mentions.setdefault(key, Mention(*key))
    asked = [_asked(question) for _, question in questions]
    document = findings.document(
        text=text,
        id=findings.place.document,
        sentences=sentences,
        mentions=tuple(mentions.values()),
        attributes={"mrc": asked},
    )
    if document is None:
        return None
    made = list(_records(document, ()))
    kept = [
        basis | _difference(question, record)
        for basis, (_, question), record in zip(asked, questions, made, strict=False)
    ]
    return document.replace(attributes={"mrc": kept})


def _asked(question: _Question) -> dict[str, Any]:
    return {"entity_label": question.entity_label, "query": question.query}


def _difference(question: _Question, made: dict[str, Any]) -> dict[str, Any]:
    """What the source has, and the writer would not make; `None` for a key that it lacks."""
    source = question.model_dump(exclude_unset=True)
    changed = {key: value for key, value in source.items() if key not in made or made[key] != value}
    return changed | {key: None for key in made if key not in source}


def _answers(
    question: _Question, place: Place, sentence: Sentence, findings: Findings
) -> Iterator[tuple[int, int]]:
    """The characters of each answer."""
    tokens = sentence.tokens
    for name, span in _positions(question):
        part = ", ".join(filter(None, (place.part, name)))
        if span is None:
            expected = "spans such as '0;2', or as many starts as ends"
            value = question.span_position or question.end_position
            findings.add("wrong-field", part, place.line, value=value, expected=expected)
        elif not 0 <= span[0] <= span[1] < len(tokens):
            values = {"start": span[0], "end": span[1] + 1, "sentence": 0, "count": len(tokens)}
            findings.add("span-outside-sentence", part, place.line, **values)
        elif tokens[span[0]][0] == tokens[span[1]][1]:
            findings.add("blank-mention", part, place.line)
        else:
            yield tokens[span[0]][0], tokens[span[1]][1]


def _positions(question: _Question) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """First and last word of each answer, None where they cannot be read."""
    for index, span in enumerate(question.span_position):
        match = _SPAN.fullmatch(span)
        yield f"span_position[{index}]", (int(match[1]), int(match[2])) if match else None
    if not question.span_position:
        if len(question.start_position) != len(question.end_position):
            yield "end_position", None
        for pair in zip(question.start_position, question.end_position, strict=False):
            yield "start_position", pair


def write(documents: Iterable[Document], options: WriteOptions) -> Iterator[str]:
    """The pieces of a file, one question a line inside one array."""
    return array_pieces(
        (document.id, record)
        for document in told_apart(documents)
        for record in _records(document, options.types)
    )


def _records(document: Document, types: Sequence[str]) -> Iterator[dict[str, Any]]:
    sentences = [_cut_at_spaces(s, document.text) for s in tokenised_sentences(document)]
    words = [document.text[start:end] for sentence in sentences for start, end in sentence.tokens]
    spans = _spans_by_type(document, sentences)
    context = " ".join(words)
    if _words(context) != (words or [""]):  # a single word of several Chinese characters
        raise _not_writable(document, context, "its only word would be read as several")
    for number, question in enumerate(_questions(document, spans, types), start=1):
        found = spans.get(question["entity_label"], [])
        record = {
            "context": context,
            "qas_id": f"{document.id}.{number}",
            "entity_label": question["entity_label"],
            "query": question["query"],
            "start_position": [first for first, _ in found],
            "end_position": [last for _, last in found],
            "span_position": [f"{first};{last}" for first, last in found],
            "impossible": not found,
        }
        yield _as_in_source(record, question, found, document.id)


def _cut_at_spaces(sentence: Sentence, text: str) -> Sentence:
    """The sentence with words that a space does not cut into other ones."""
    words = []
    for start, end in sentence.tokens:
        parts = [match.span() for match in _WORD.finditer(text, start, end)]
        words.extend(parts if end > start else [(start, end)])
    return replace(sentence, tokens=tuple(words))


def _spans_by_type(
    document: Document, sentences: Sequence[Sentence]
) -> dict[str, list[tuple[int, int]]]:
    """First and last word of each mention, counted through the whole document."""
    before = [0]
    for sentence in sentences:
        before.append(before[-1] + len(sentence.tokens))
    found: dict[str, list[tuple[int, int]]] = {}
    for index, mention in enumerate(document.mentions):
        number, start, end = mention_tokens(document, index, sentences)
        span = (before[number] + start, before[number] + end - 1)
        found.setdefault(mention.type, []).append(span)
    return found


def _questions(
    document: Document, found: Iterable[str], types: Sequence[str]
) -> list[dict[str, Any]]:
    """The questions of the source, and one for each further type that is found or wanted."""
    try:
        kept = _KEPT.validate_python(document.attributes.get("mrc", []))
    except ValidationError:  # somebody else's attribute
        kept = []
    kept = [question for question in kept if {"entity_label", "query"} <= question.keys()]
    asked = {question["entity_label"] for question in kept}
    new = [kind for kind in dict.fromkeys((*types, *found)) if kind not in asked]
    if not kept and not new:
        detail = "there is no type to ask for; name all types, such as mrc:types=PER+LOC"
        raise _not_writable(document, document.text[:40], detail)
    words = ((kind, kind.replace("_", " ").lower()) for kind in new)
    return kept + [{"entity_label": kind, "query": query} for kind, query in words]


def _as_in_source(
    record: dict[str, Any],
    question: dict[str, Any],
    found: list[tuple[int, int]],
    identifier: str,
) -> dict[str, Any]:
    """The record with the source's other keys, and its id and answers if they still mean the same.

    With the id of the source a document that has got another one would be read as the old one.
    """
    absent = [key for key in _Question.model_fields if question.get(key, ...) is None]
    merged = {key: value for key, value in (record | question).items() if key not in absent}
    try:
        source = _Question.model_validate(merged)
    except ValidationError:  # somebody else's attribute
        return record
    if _document_id(source.qas_id) != identifier:
        merged["qas_id"] = record["qas_id"]
    if _words(source.context) != _words(record["context"]):
        merged["context"] = record["context"]
    if {span for _, span in _positions(source)} != set(found):
        merged |= {key: record[key] for key in _ANSWERS}
    return merged


def _not_writable(document: Document, value: str, detail: str) -> DocumentError:
    place = Place(document=document.id)
    return DocumentError("not-writable", place, value=value, detail=detail)
