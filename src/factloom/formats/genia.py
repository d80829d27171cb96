"""GENIA and its kin: one tokenised sentence a line, with entities that may be nested.

    {"doc_id": "1", "sent_id": "1-0", "tokens": ["jun", "B", "mRNAs"],
     "entity_mentions": [{"start": 0, "end": 2, "entity_type": "DNA", "text": "jun B"}]}

Positions are half-open tokens. Sentences of one `doc_id` that stand one behind the other are one
document; without it each is a document of its own.

Kim et al., GENIA corpus: a semantically annotated corpus for bio-textmining, 2003.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from factloom.document import Document, Mention, Sentence
from factloom.errors import Place
from factloom.files.json_records import conforming, encode, first_records, records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.document_ids import told_apart
from factloom.formats.json_keys import extra_keys, other_keys
from factloom.text.tokens import join_tokens, mention_tokens, separator_of, tokenised_sentences

_EXTRA_KEYS = ConfigDict(strict=True, extra="allow")


class _Mention(BaseModel):
    model_config = _EXTRA_KEYS
    start: int
    end: int
    entity_type: str
    text: str = ""


class _Record(BaseModel):
    model_config = _EXTRA_KEYS
    tokens: list[str]
    entity_mentions: list[_Mention]
    doc_id: str = ""


_SCHEMA = TypeAdapter(_Record)
_KEPT_KEYS = TypeAdapter(list[dict[str, Any]])


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return any(
        isinstance(record, dict) and record.keys() >= {"tokens", "entity_mentions"}
        for record in first_records(head)
    )


def read(source: Source, report: Report) -> Iterator[Document]:
    for identifier, group in groupby(_numbered(source, report), key=lambda item: item[0]):
        findings = Findings(source.place, report)
        findings.name_document(identifier)
        document = _document([(place, record) for _, place, record in group], findings)
        if document is not None:
            yield document


def _numbered(source: Source, report: Report) -> Iterator[tuple[str, Place, _Record]]:
    """Each good record with the id of its document."""
    for number, (place, record) in enumerate(records(source, report), start=1):
        findings = Findings(place, report)
        if isinstance(record, dict) and isinstance(record.get("doc_id"), str):
            findings.name_document(record["doc_id"])
        checked = conforming(_SCHEMA, record, findings)
        if checked is not None:
            own = "doc_id" in checked.model_fields_set
            yield checked.doc_id if own else f"{source.name}-{number}", place, checked


def _document(group: list[tuple[Place, _Record]], findings: Findings) -> Document | None:
    separator = separator_of(token for _, record in group for token in record.tokens)
    text, sentences = join_tokens([record.tokens for _, record in group], separator)
    mentions = [
        _mention(mention, f"entity_mentions[{index}]", text, sentences, number, place, findings)
        for number, (place, record) in enumerate(group)
        for index, mention in enumerate(record.entity_mentions)
    ]
    return findings.document(
        text=text,
        id=findings.place.document,
        sentences=sentences,
        mentions=tuple(mentions),
        attributes={"genia": [other_keys(record) for _, record in group]},
    )


def _mention(
    mention: _Mention,
    part: str,
    text: str,
    sentences: tuple[Sentence, ...],
    number: int,
    place: Place,
    findings: Findings,
) -> Mention:
    tokens = sentences[number].tokens
    start, end = mention.start, mention.end
    characters = (0, len(text))  # a stand-in: the rest can still be checked
    part = ", ".join(filter(None, (place.part, part)))
    if not 0 <= start < end <= len(tokens):
        span = {"start": start, "end": end, "sentence": number, "count": len(tokens)}
        findings.add("span-outside-sentence", part, place.line, **span)
    elif tokens[start][0] == tokens[end - 1][1]:
        findings.add("blank-mention", part, place.line)
    else:
        characters = tokens[start][0], tokens[end - 1][1]
    named = "text" in mention.model_fields_set and mention.text != text[slice(*characters)]
    name = mention.text if named else None
    return Mention(*characters, mention.entity_type, name=name, attributes=other_keys(mention))


def write(documents: Iterable[Document]) -> Iterator[str]:
    """The lines of a file, one a sentence."""
    for document in told_apart(documents):
        for record in _records(document):
            yield encode(record, document.id) + "\n"


def _records(document: Document) -> Iterator[dict[str, Any]]:
    sentences = tokenised_sentences(document) or (Sentence(0, 0),)
    found: list[list[dict[str, Any]]] = [[] for _ in sentences]
    for index in range(len(document.mentions)):
        number, mention = _mention_record(document, index, sentences)
        found[number].append(mention)
    kept = _kept_keys(document, len(sentences))
    for number, (sentence, mentions) in enumerate(zip(sentences, found, strict=True)):
        record = {
            **({"doc_id": document.id} if "doc_id" not in kept[number] else {}),
            "tokens": [document.text[start:end] for start, end in sentence.tokens],
            "entity_mentions": mentions,
        }
        yield extra_keys(kept[number], _Record) | record


def _kept_keys(document: Document, sentences: int) -> list[dict[str, Any]]:
    try:
        kept = _KEPT_KEYS.validate_python(document.attributes.get("genia"))
    except ValidationError:  # nothing was kept, or it is somebody else's
        kept = []
    if len(kept) == sentences:
        return kept
    return [{"sent_id": f"{document.id}-{number}"} for number in range(sentences)]


def _mention_record(
    document: Document, index: int, sentences: tuple[Sentence, ...]
) -> tuple[int, dict[str, Any]]:
    mention = document.mentions[index]
    sentence, start, end = mention_tokens(document, index, sentences)
    record: dict[str, Any] = {"start": start, "end": end, "entity_type": mention.type}
    if mention.name is not None or "text" not in mention.attributes:
        text = document.mention_text(index)
        record["text"] = text if mention.name is None else mention.name
    return sentence, extra_keys(mention.attributes, _Mention) | record
