"""CMeEE: a list of texts, each with its entities by inclusive characters; they may be nested.

    [{"text": "肺内病变",
      "entities": [{"start_idx": 0, "end_idx": 0, "type": "bod", "entity": "肺"}]}]

Hongying et al., Building a Pediatric Medical Corpus, CLSW 2020 (CBLUE).
"""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from factloom.document import Document, Mention
from factloom.files.json_records import array_pieces, first_records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.character_mentions import found_sentences, mention_at
from factloom.formats.json_keys import extra_keys, identifier_keys, other_keys
from factloom.formats.record_reading import read_records

_EXTRA_KEYS = ConfigDict(strict=True, extra="allow")


class _Entity(BaseModel):
    model_config = _EXTRA_KEYS
    start_idx: int
    end_idx: int  # the last character
    type: str
    entity: str = ""


class _Record(BaseModel):
    model_config = _EXTRA_KEYS
    text: str
    entities: list[_Entity] = Field(default_factory=list)
    id: int | str = ""


_SCHEMA = TypeAdapter(_Record)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    found = [record for record in first_records(head) if isinstance(record, dict)]
    bare = all(record.keys() == {"text", "entities"} for record in found)
    if found and bare and not any(record["entities"] for record in found):
        return True
    return any(_is_record(record) for record in found)


def _is_record(record: dict[str, Any]) -> bool:
    entities = record.get("entities")
    if "text" not in record or not isinstance(entities, list) or not entities:
        return False
    return isinstance(entities[0], dict) and "start_idx" in entities[0]


def read(source: Source, report: Report) -> Iterator[Document]:
    return read_records(source, report, _SCHEMA, _document)


def _document(record: _Record, findings: Findings) -> Document | None:
    mentions = tuple(
        mention_at(
            record.text,
            (entity.start_idx, entity.end_idx + 1),
            entity.type,
            findings,
            f"entities[{index}]",
            name=entity.entity if "entity" in entity.model_fields_set else None,
            attributes=other_keys(entity),
        )
        for index, entity in enumerate(record.entities)
    )
    return findings.document(
        text=record.text,
        id=findings.place.document,
        sentences=found_sentences(record.text, mentions),
        mentions=mentions,
        attributes=other_keys(record) | ({"id": record.id} if isinstance(record.id, int) else {}),
    )


def write(documents: Iterable[Document]) -> Iterator[str]:
    """The pieces of a file, one record a line inside one array."""
    return array_pieces((document.id, _record(document)) for document in documents)


def _record(document: Document) -> dict[str, Any]:
    record: dict[str, Any] = {**identifier_keys(document), "text": document.text}
    if document.mentions or "entities" not in document.attributes:
        record["entities"] = [
            _entity(mention, document.mention_text(index))
            for index, mention in enumerate(document.mentions)
        ]
    return extra_keys(document.attributes, _Record) | record


def _entity(mention: Mention, text: str) -> dict[str, Any]:
    record: dict[str, Any] = {
        "start_idx": mention.start,
        "end_idx": mention.end - 1,
        "type": mention.type,
        "entity": text if mention.name is None else mention.name,
    }
    if mention.attributes.get("entity", "") is None and mention.name is None:
        del record["entity"]
    return extra_keys(mention.attributes, _Entity) | record
