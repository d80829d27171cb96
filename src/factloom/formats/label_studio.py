"""Label Studio's JSON export: tasks, their annotations, labelled regions and relations.

    [{"id": 1, "data": {"text": "Ada was born in London."},
      "annotations": [{"result": [
        {"id": "a", "from_name": "label", "to_name": "text", "type": "labels",
         "value": {"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}},
        {"id": "b", "from_name": "label", "to_name": "text", "type": "labels",
         "value": {"start": 16, "end": 22, "text": "London", "labels": ["LOC"]}},
        {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right",
         "labels": ["born_in"]}]}]}]

The first annotation that was not cancelled counts; where there is none, the first prediction.
Exports name predictions by their numbers, `"predictions": [12, 13]`: these are passed over. A task
as it was is kept under `attributes["label-studio"]`, and written again as long as it means the
same.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from factloom.document import Document, Mention
from factloom.errors import Flaw, Place
from factloom.files.json_records import array_pieces, conforming, first_records, records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.character_mentions import found_sentences, mention_at
from factloom.formats.json_keys import record_identifier
from factloom.formats.linked_mentions import (
    Link,
    join_mentions,
    links_of,
    mention_identifiers,
)

_EXTRA_KEYS = ConfigDict(strict=True, extra="allow")
_UNNAMED = "relation"  # the type of a relation without label


class _Annotation(BaseModel):
    model_config = _EXTRA_KEYS
    result: list[dict[str, Any]]
    was_cancelled: bool = False


def _unless_number(value: object) -> object:
    """None for the number of a prediction, whose content the export leaves out."""
    return None if type(value) is int else value


class _Task(BaseModel):
    model_config = _EXTRA_KEYS
    data: dict[str, Any]
    annotations: list[_Annotation] = Field(default_factory=list)
    completions: list[_Annotation] = Field(default_factory=list)  # their name before version 1
    predictions: list[Annotated[_Annotation | None, BeforeValidator(_unless_number)]] = Field(
        default_factory=list
    )


class _Value(BaseModel):
    model_config = _EXTRA_KEYS
    start: int
    end: int
    labels: list[str]
    text: str | None = None


class _Region(BaseModel):
    model_config = _EXTRA_KEYS
    id: str
    value: _Value
    score: float | None = None


class _Relation(BaseModel):
    model_config = _EXTRA_KEYS
    from_id: str
    to_id: str
    direction: str = "right"
    labels: list[str] | None = None


class _Kept(BaseModel):
    """A task without its text, the key of the text, and the names of the tags in its interface."""

    task: dict[str, Any] = Field(default_factory=dict)
    text_key: str = "text"
    from_name: str = "label"
    to_name: str = "text"


_TASK = TypeAdapter(_Task)
_REGION = TypeAdapter(_Region)
_RELATION = TypeAdapter(_Relation)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    lists = {"annotations", "completions", "predictions"}
    return any(
        isinstance(record, dict)
        and isinstance(record.get("data"), dict)
        and bool(record.keys() & lists)
        for record in first_records(head)
    )


def read(source: Source, report: Report) -> Iterator[Document]:
    for number, (place, record) in enumerate(records(source, report), start=1):
        findings = Findings(place, report)
        findings.name_document(_identifier(record) or record_identifier(record, source, number))
        document = _document(record, findings)
        if document is not None:
            yield document


def _identifier(record: object) -> str | None:
    """The id that a Document was written with: Label Studio numbers tasks itself, keeps data."""
    data = record.get("data") if isinstance(record, dict) else None
    found = data.get("document") if isinstance(data, dict) else None
    return found if isinstance(found, str) else None


def _document(record: object, findings: Findings) -> Document | None:
    task = conforming(_TASK, record, findings)
    if task is None or not isinstance(record, dict):
        return None
    text_key = _text_key(task.data)
    if text_key is None:
        findings.add("no-text", "data")
        return None
    text = task.data[text_key]
    reader = _ResultReader(text, findings)
    names = reader.read(*_chosen(task, findings))
    rest = {key: value for key, value in task.data.items() if key != text_key}
    kept = _Kept(task={**record, "data": rest}, text_key=text_key, **names)
    entities, relations = join_mentions(reader.mentions, reader.links, findings)
    return findings.document(
        text=text,
        id=findings.place.document,
        sentences=found_sentences(text, reader.mentions),
        mentions=tuple(reader.mentions),
        entities=entities,
        relations=relations,
        attributes={"label-studio": kept.model_dump(exclude_defaults=True)},
    )


def _text_key(data: Mapping[str, Any]) -> str | None:
    """The key `text`, else that of the only text there is."""
    texts = [key for key, value in data.items() if isinstance(value, str)]
    if "text" in texts:
        return "text"
    return texts[0] if len(texts) == 1 else None


def _chosen(task: _Task, findings: Findings) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """The results that count, and where they stand."""
    for name, done in (("annotations", task.annotations), ("completions", task.completions)):
        valid = [number for number, one in enumerate(done) if not one.was_cancelled]
        if len(valid) > 1:
            findings.add("several-annotations", name, count=len(valid))
        if valid:
            return f"{name}[{valid[0]}].result", done[valid[0]].result
    for number, prediction in enumerate(task.predictions):
        if prediction is not None:
            return f"predictions[{number}].result", prediction.result
    return "annotations", ()


class _ResultReader:
    """Takes the mentions and links out of one annotation."""

    def __init__(self, text: str, findings: Findings) -> None:
        self._text = text
        self._findings = findings
        self._mention_of: dict[str, int] = {}  # region: its first mention
        self.mentions: list[Mention] = []
        self.links: list[Link] = []

    def read(self, place: str, results: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Read all results; the names of the tags that the first region has."""
        relations = []
        names: dict[str, str] = {}
        for index, result in enumerate(results):
            part = f"{place}[{index}]"
            if result.get("type") == "labels":
                self._read_region(part, result)
                found = {key: result.get(key) for key in ("from_name", "to_name")}
                names = names or {k: name for k, name in found.items() if isinstance(name, str)}
            elif result.get("type") == "relation":
                relations.append((part, result))
        for part, result in relations:
            self._read_relation(part, result)
        return names

    def _read_region(self, part: str, result: Mapping[str, Any]) -> None:
        region = conforming(_REGION, result, self._findings, part)
        if region is None:
            return
        if region.id in self._mention_of:
            self._findings.add("repeated-identifier", f"{part}.id", identifier=region.id)
        if not region.value.labels:
            place = f"{part}.value.labels"
            self._findings.add("wrong-field", place, value=[], expected="one label or more")
            return
        self._mention_of[region.id] = len(self.mentions)
        span = _code_points(self._text, region.value)
        for label in region.value.labels:
            name = region.value.text
            attributes = {"id": region.id}
            mention = mention_at(
                self._text, span, label, self._findings, part, name=name, attributes=attributes
            )
            score = region.score
            probable = score is not None and 0 <= score <= 1  # else it is no probability
            self.mentions.append(replace(mention, score=score if probable else None))

    def _read_relation(self, part: str, result: Mapping[str, Any]) -> None:
        relation = conforming(_RELATION, result, self._findings, part)
        if relation is None:
            return
        ends = {"from_id": relation.from_id, "to_id": relation.to_id}
        for role, identifier in ends.items():
            if identifier not in self._mention_of:
                self._findings.add("unknown-identifier", part, role=role, identifier=identifier)
                return
        pair = (self._mention_of[relation.from_id], self._mention_of[relation.to_id])
        pairs = {"left": [pair[::-1]], "bi": [pair, pair[::-1]]}.get(relation.direction, [pair])
        for label, (head, tail) in itertools.product(relation.labels or [_UNNAMED], pairs):
            self.links.append(Link(head, tail, label, part=part))


def _code_points(text: str, value: _Value) -> tuple[int, int]:
    """The span in characters: browsers count some, such as emoji, as two (UTF-16)."""
    span = (value.start, value.end)
    if value.text is None or text[slice(*span)] == value.text or min(span) < 0:
        return span
    units = text.encode("utf-16-le", errors="surrogatepass")
    start = len(units[: 2 * value.start].decode("utf-16-le", errors="replace"))
    end = len(units[: 2 * value.end].decode("utf-16-le", errors="replace"))
    return (start, end) if text[start:end] == value.text else span


def write(documents: Iterable[Document]) -> Iterator[str]:
    """The pieces of a file, one task a line inside one array."""
    return array_pieces((document.id, _task(document)) for document in documents)


def _task(document: Document) -> dict[str, Any]:
    """The source's task if it still means the same, else one with new annotations.

    What has scores comes from a model: it is a prediction, which people can correct.
    """
    try:
        kept = _Kept.model_validate(document.attributes.get("label-studio", {}))
    except ValidationError:  # somebody else's attribute
        kept = _Kept()
    source = kept.task.get("data")
    data = {kept.text_key: document.text, **(source if isinstance(source, dict) else {})}
    task = {**kept.task, "data": data}
    if kept.task and _means_the_same(task, document):
        return task
    task.pop("completions", None)
    if document.id and str(task.get("id")) != document.id:
        task["data"] = {**data, "document": document.id}
    scores = [mention.score for mention in document.mentions]
    scores += [relation.score for relation in document.relations]
    results = {"result": list(_results(document, kept))}
    if any(score is not None for score in scores):
        return task | {"annotations": [], "predictions": [results]}
    return task | {"annotations": [results]}


def _means_the_same(task: dict[str, Any], document: Document) -> bool:
    def ignore(found: Flaw) -> None:
        pass

    again = _document(task, Findings(Place(document=document.id), ignore))
    return again is not None and (again.mentions, again.entities, again.relations) == (
        document.mentions,
        document.entities,
        document.relations,
    )


def _results(document: Document, kept: _Kept) -> Iterator[dict[str, Any]]:
    identifiers = mention_identifiers(
        document,
        lambda found: found if isinstance(found, str) else None,
        (f"m{number}" for number in itertools.count()),
    )
    for index, (mention, identifier) in enumerate(zip(document.mentions, identifiers, strict=True)):
        yield {
            "id": identifier,
            "from_name": kept.from_name,
            "to_name": kept.to_name,
            "type": "labels",
            "value": {
                "start": mention.start,
                "end": mention.end,
                "text": document.mention_text(index) if mention.name is None else mention.name,
                "labels": [mention.type],
            },
            **({} if mention.score is None else {"score": mention.score}),
        }
    for link in links_of(document):
        yield {
            "type": "relation",
            "from_id": identifiers[link.head],
            "to_id": identifiers[link.tail],
            "direction": "right",
            "labels": [link.type],
            **_told(link.attributes),
        }


def _told(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """What a relation has to say to people: a score, and its evidence as notes."""
    score, evidence = attributes.get("score"), attributes.get("evidence")
    return {
        **({"score": score} if isinstance(score, float) else {}),
        **({"meta": {"text": evidence}} if isinstance(evidence, list) else {}),
    }
