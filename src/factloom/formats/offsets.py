"""One text a line, with entities and relations as short lists.

    {"id": "1", "text": "马云出生于杭州", "entities": [["Person", 0, 2], ["Location", 5, 7]],
     "relations": [["Born", 0, 1]]}

An entity is [type, start, end] by half-open characters, a relation [type, head, tail] by places in
the list of entities. The Chinese literature corpus of Xu et al. (A Discourse-Level Named Entity
Recognition and Relation Extraction Dataset for Chinese Literature Text, 2017) comes like this.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)

from factloom.document import Document
from factloom.files.json_records import encode, first_records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.character_mentions import mention_at
from factloom.formats.json_keys import extra_keys, identifier_keys
from factloom.formats.linked_mentions import Link, linked_document, links_of, same_meaning
from factloom.formats.record_reading import read_records

_Triple = tuple[StrictStr, StrictInt, StrictInt]


class _Record(BaseModel):
    model_config = ConfigDict(extra="allow")
    text: StrictStr
    entities: list[_Triple]
    relations: list[_Triple] = Field(default_factory=list)
    id: StrictInt | StrictStr = ""


_SCHEMA = TypeAdapter(_Record)
_TRIPLES = TypeAdapter(list[_Triple])


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return any(isinstance(record, dict) and _is_record(record) for record in first_records(head))


def _is_record(record: dict[str, Any]) -> bool:
    entities = record.get("entities")
    if "text" not in record or not isinstance(entities, list) or not entities:
        return False
    return isinstance(entities[0], list) and isinstance((entities[0] or [0])[0], str)


def read(source: Source, report: Report) -> Iterator[Document]:
    return read_records(source, report, _SCHEMA, _document)


def _document(record: _Record, findings: Findings) -> Document | None:
    mentions = tuple(
        mention_at(record.text, (start, end), kind, findings, f"entities[{index}]")
        for index, (kind, start, end) in enumerate(record.entities)
    )
    links = [
        Link(head, tail, kind, part=f"relations[{index}]")
        for index, (kind, head, tail) in enumerate(record.relations)
        if _in_range(head, tail, len(mentions), f"relations[{index}]", findings)
    ]
    document = linked_document(record, record.text, record.id, mentions, links, findings)
    source = [list(relation) for relation in record.relations]
    if document is None or _relations(document) == source:
        return document
    return document.replace(attributes={**document.attributes, "offsets": source})


def _in_range(head: int, tail: int, count: int, part: str, findings: Findings) -> bool:
    inside = True
    for role, entity in (("head", head), ("tail", tail)):
        if not 0 <= entity < count:
            findings.add("dangling-entity", part, role=role, entity=entity, count=count)
            inside = False
    return inside


def write(documents: Iterable[Document]) -> Iterator[str]:
    """The lines of a file."""
    for document in documents:
        yield encode(_record(document), document.id) + "\n"


def _record(document: Document) -> dict[str, Any]:
    record: dict[str, Any] = {
        **identifier_keys(document),
        "text": document.text,
        "entities": [[mention.type, mention.start, mention.end] for mention in document.mentions],
    }
    relations = _relations(document)
    if relations or "relations" not in document.attributes:
        record["relations"] = relations
    return extra_keys(document.attributes, _Record) | record


def _relations(document: Document) -> list[list[Any]]:
    """The relations as the source had them, twice where it had them twice, if nothing changed."""
    try:
        kept = _TRIPLES.validate_python(document.attributes.get("offsets", None))
    except ValidationError:  # nothing was kept, or it is somebody else's
        kept = []
    source = [Link(head, tail, kind) for kind, head, tail in kept]
    links = source if source and same_meaning(document, source) else links_of(document)
    return [[link.type, link.head, link.tail] for link in links]
