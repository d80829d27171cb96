"""CLUENER: one text a line, names by type and spelling, with inclusive character spans.

    {"text": "浙商银行叶老桂",
     "label": {"name": {"叶老桂": [[4, 6]]}, "company": {"浙商银行": [[0, 3]]}}}

Xu et al., CLUENER2020: Fine-grained Named Entity Recognition for Chinese, 2020.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from factloom.document import Document
from factloom.files.json_records import encode, first_records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.character_mentions import found_sentences, mention_at
from factloom.formats.json_keys import extra_keys, identifier_keys, other_keys
from factloom.formats.record_reading import read_records

_Span = Annotated[list[int], Field(min_length=2, max_length=2)]  # first and last character


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    text: str
    label: dict[str, dict[str, list[_Span]]] = Field(default_factory=dict)
    id: int | str = ""


_SCHEMA = TypeAdapter(_Record)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return any(
        isinstance(record, dict) and "text" in record and isinstance(record.get("label"), dict)
        for record in first_records(head)
    )


def read(source: Source, report: Report) -> Iterator[Document]:
    return read_records(source, report, _SCHEMA, _document)


def _document(record: _Record, findings: Findings) -> Document | None:
    mentions = tuple(
        mention_at(
            record.text,
            (first, last + 1),
            kind,
            findings,
            f"label.{kind}.{name}[{index}]",
            name=name,
        )
        for kind, names in record.label.items()
        for name, spans in names.items()
        for index, (first, last) in enumerate(spans)
    )
    return findings.document(
        text=record.text,
        id=findings.place.document,
        sentences=found_sentences(record.text, mentions),
        mentions=mentions,
        attributes=other_keys(record) | ({"id": record.id} if isinstance(record.id, int) else {}),
    )


def write(documents: Iterable[Document]) -> Iterator[str]:
    """The lines of a file."""
    for document in documents:
        yield encode(_record(document), document.id) + "\n"


def _record(document: Document) -> dict[str, Any]:
    labels: dict[str, dict[str, list[list[int]]]] = {}
    for index, mention in enumerate(document.mentions):
        name = document.mention_text(index) if mention.name is None else mention.name
        spans = labels.setdefault(mention.type, {}).setdefault(name, [])
        spans.append([mention.start, mention.end - 1])
    record: dict[str, Any] = {**identifier_keys(document), "text": document.text}
    if labels or "label" not in document.attributes:
        record["label"] = labels
    return extra_keys(document.attributes, _Record) | record
