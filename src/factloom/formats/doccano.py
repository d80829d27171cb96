"""doccano's JSON lines: entities and the relations between them, or spans alone.

    {"id": 1, "text": "Ada was born in London.",
     "entities": [{"id": 7, "label": "PER", "start_offset": 0, "end_offset": 3},
                  {"id": 8, "label": "LOC", "start_offset": 16, "end_offset": 22}],
     "relations": [{"id": 1, "from_id": 7, "to_id": 8, "type": "born_in"}]}

    {"id": 2, "text": "Ada", "label": [[0, 3, "PER"]]}

Offsets are half-open characters. The text may stand under `data`, spans under `labels` or
`entities`, as older versions have it.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

from factloom.document import Document, Mention
from factloom.files.json_records import conforming, encode, first_records, records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.character_mentions import mention_at
from factloom.formats.json_keys import extra_keys, identifier_keys, other_keys, record_identifier
from factloom.formats.linked_mentions import (
    Link,
    linked_document,
    links_of,
    mention_identifiers,
    same_meaning,
)

_EXTRA_KEYS = ConfigDict(extra="allow")
_Identifier = StrictInt | StrictStr
_Span = tuple[StrictInt, StrictInt, StrictStr]


class _Entity(BaseModel):
    model_config = _EXTRA_KEYS
    start_offset: StrictInt
    end_offset: StrictInt
    label: StrictStr
    id: _Identifier | None = None


class _Relation(BaseModel):
    model_config = _EXTRA_KEYS
    from_id: _Identifier
    to_id: _Identifier
    type: StrictStr


class _Linked(BaseModel):
    model_config = _EXTRA_KEYS
    text: StrictStr
    entities: list[_Entity] = Field(default_factory=list)
    relations: list[_Relation] = Field(default_factory=list)
    id: _Identifier = ""


class _Labelled(BaseModel):
    model_config = _EXTRA_KEYS
    text: StrictStr
    label: list[_Span]
    id: _Identifier = ""


class _Kept(BaseModel):
    """The source's own names of two keys, and its relations where they would be others."""

    text: str = "text"
    label: str | None = None
    relations: list[_Relation] = Field(default_factory=list)


_LINKED = TypeAdapter(_Linked)
_LABELLED = TypeAdapter(_Labelled)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    found = [record for record in first_records(head) if isinstance(record, dict)]
    if any(_has_spans(record) for record in found):
        return True
    return bool(found) and all(_has_none(record) for record in found)


def _has_spans(record: Mapping[str, Any]) -> bool:
    values = record.get(_label_key(record) or "entities")
    if not record.keys() & {"text", "data"} or not isinstance(values, list) or not values:
        return False
    first = values[0]
    if isinstance(first, list):
        return bool(first) and isinstance(first[0], int)
    return isinstance(first, dict) and "start_offset" in first


def _has_none(record: Mapping[str, Any]) -> bool:
    empty = record.get("label") == [] or record.get("entities") == record.get("relations") == []
    return bool(record.keys() & {"text", "data"}) and empty


def _label_key(record: Mapping[str, Any]) -> str | None:
    """Under which key there are bare spans; None where entities have keys of their own."""
    values = record.get("entities")
    if isinstance(values, list) and values and isinstance(values[0], list):
        return "entities"
    names = [name for name in ("label", "labels") if name in record]
    return names[0] if names and "entities" not in record else None


def read(source: Source, report: Report) -> Iterator[Document]:
    for number, (place, record) in enumerate(records(source, report), start=1):
        findings = Findings(place, report)
        findings.name_document(record_identifier(record, source, number))
        document = _document(record, findings)
        if document is not None:
            yield document


def _document(record: object, findings: Findings) -> Document | None:
    if not isinstance(record, dict):
        conforming(_LINKED, record, findings)
        return None
    text_key = "data" if "data" in record and "text" not in record else "text"
    label_key = _label_key(record)
    names = {text_key: "text", **({label_key: "label"} if label_key is not None else {})}
    renamed = {names.get(key, key): value for key, value in record.items()}
    kept = _Kept(text=text_key, label=label_key)
    if label_key is not None:
        labelled = conforming(_LABELLED, renamed, findings)
        return None if labelled is None else _labelled_document(labelled, kept, findings)
    linked = conforming(_LINKED, renamed, findings)
    return None if linked is None else _linked_document(linked, kept, findings)


def _labelled_document(record: _Labelled, kept: _Kept, findings: Findings) -> Document | None:
    mentions = [
        mention_at(record.text, (start, end), kind, findings, f"{kept.label}[{index}]")
        for index, (start, end, kind) in enumerate(record.label)
    ]
    return _finished(record, mentions, [], kept, findings)


def _linked_document(record: _Linked, kept: _Kept, findings: Findings) -> Document | None:
    mentions = [
        mention_at(
            record.text,
            (entity.start_offset, entity.end_offset),
            entity.label,
            findings,
            f"entities[{index}]",
            attributes={**other_keys(entity), **({} if entity.id is None else {"id": entity.id})},
        )
        for index, entity in enumerate(record.entities)
    ]
    mention_of: dict[_Identifier | None, int] = {}
    for index, entity in enumerate(record.entities):
        if entity.id is not None and entity.id in mention_of:
            findings.add("repeated-identifier", f"entities[{index}].id", identifier=entity.id)
        mention_of.setdefault(entity.id, index)
    links = list(_links(record, mention_of, findings))
    document = _finished(record, mentions, links, kept, findings)
    source = [relation.model_dump() for relation in record.relations]
    if document is None or _relations(document, _identifiers(document), _Kept()) == source:
        return document
    return _with_kept(document, kept.model_copy(update={"relations": record.relations}))


def _links(
    record: _Linked, mention_of: Mapping[_Identifier | None, int], findings: Findings
) -> Iterator[Link]:
    for index, relation in enumerate(record.relations):
        part = f"relations[{index}]"
        ends = {"from_id": relation.from_id, "to_id": relation.to_id}
        for role, identifier in ends.items():
            if identifier not in mention_of:
                findings.add("unknown-identifier", part, role=role, identifier=identifier)
        if all(identifier in mention_of for identifier in ends.values()):
            head, tail = mention_of[relation.from_id], mention_of[relation.to_id]
            yield Link(head, tail, relation.type, other_keys(relation), part)


def _finished(
    record: _Linked | _Labelled,
    mentions: Sequence[Mention],
    links: Sequence[Link],
    kept: _Kept,
    findings: Findings,
) -> Document | None:
    document = linked_document(record, record.text, record.id, mentions, links, findings)
    return None if document is None else _with_kept(document, kept)


def _with_kept(document: Document, kept: _Kept) -> Document:
    changed = kept.model_dump(exclude_defaults=True)
    if not changed:
        return document
    return document.replace(attributes={**document.attributes, "doccano": changed})


def write(documents: Iterable[Document]) -> Iterator[str]:
    """The lines of a file."""
    for document in documents:
        yield encode(_record(document), document.id) + "\n"


def _record(document: Document) -> dict[str, Any]:
    try:
        kept = _Kept.model_validate(document.attributes.get("doccano", {}))
    except ValidationError:  # somebody else's attribute
        kept = _Kept()
    identifiers = _identifiers(document)
    relations = _relations(document, identifiers, kept)
    record = {**identifier_keys(document), kept.text: document.text}
    if kept.label is not None and not relations:
        record[kept.label] = [[m.start, m.end, m.type] for m in document.mentions]
        return extra_keys(document.attributes, _Labelled) | record
    if document.mentions or "entities" not in document.attributes:
        linked = {relation[end] for relation in relations for end in ("from_id", "to_id")}
        record["entities"] = [
            _entity(mention, identifier, identifier in linked)
            for mention, identifier in zip(document.mentions, identifiers, strict=True)
        ]
    if relations or "relations" not in document.attributes:
        record["relations"] = relations
    return extra_keys(document.attributes, _Linked) | record


def _identifiers(document: Document) -> list[_Identifier]:
    def own(identifier: object) -> _Identifier | None:
        return identifier if isinstance(identifier, int | str) else None

    return mention_identifiers(document, own, itertools.count())


def _entity(mention: Mention, identifier: _Identifier, linked: bool) -> dict[str, Any]:
    named = linked or "id" not in mention.attributes or mention.attributes["id"] is not None
    return extra_keys(mention.attributes, _Entity) | {
        **({"id": identifier} if named else {}),
        "label": mention.type,
        "start_offset": mention.start,
        "end_offset": mention.end,
    }


def _relations(
    document: Document, identifiers: Sequence[_Identifier], kept: _Kept
) -> list[dict[str, Any]]:
    """The relations of the source if they still mean the same, else those of the document."""
    mention_of = {identifier: index for index, identifier in enumerate(identifiers)}
    source = [
        Link(mention_of.get(one.from_id, -1), mention_of.get(one.to_id, -1), one.type)
        for one in kept.relations
    ]
    if source and same_meaning(document, source):
        return [relation.model_dump() for relation in kept.relations]
    return [
        extra_keys(link.attributes, _Relation)
        | {
            "from_id": identifiers[link.head],
            "to_id": identifiers[link.tail],
            "type": link.type,
        }
        for link in links_of(document)
    ]
