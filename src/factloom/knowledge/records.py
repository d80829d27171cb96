"""Knowledge from plain files: an entity or a fact a line, as JSON or as a table with tabs.

    {"id": "Q64", "name": "Berlin", "aliases": ["Spree-Athens"], "type": "LOC",
     "description": "capital of Germany", "count": 120}
    {"head": "Q64", "relation": "P17", "tail": "Q183"}

`aliases` may say how often each was used: {"Berlin": 100, "Spree-Athens": 2}; else every name
counts as the entity does, once where nothing is said. A table has its columns in the first line,
those of either kind of line, with aliases between bars: Spree-Athens|Athens on the Spree.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from factloom.errors import InputError, Place
from factloom.files.json_records import conforming, records
from factloom.files.report import Findings, raise_flaw
from factloom.files.source import Source
from factloom.graph.knowledge_base import KnownEntity, KnownFact

_Text = Annotated[str, Field(min_length=1)]
_Count = Annotated[int, Field(ge=1)]


class _Entity(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    id: _Text
    name: str = ""
    aliases: list[str] | dict[str, _Count] = Field(default_factory=list)
    type: str = ""
    description: str = ""
    count: _Count = 1

    @field_validator("type", "description", "name", mode="before")
    @classmethod
    def _absent(cls, value: Any) -> Any:
        return "" if value is None else value

    def known(self) -> KnownEntity:
        aliases = self.aliases
        counts = aliases if isinstance(aliases, dict) else dict.fromkeys(aliases, self.count)
        main = self.name or next(iter(counts), self.id)
        names = {main: counts.get(main, self.count), **counts}
        return KnownEntity(self.id, names, self.type, self.description)


class _Fact(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    head: _Text
    relation: _Text
    tail: _Text

    def known(self) -> KnownFact:
        return KnownFact(self.head, self.relation, self.tail)


_ENTITY: TypeAdapter[_Entity | _Fact] = TypeAdapter(_Entity)
_FACT: TypeAdapter[_Entity | _Fact] = TypeAdapter(_Fact)
_ENTITY_COLUMNS = ("id", "name", "aliases", "type", "description", "count")
_FACT_COLUMNS = ("head", "relation", "tail")


def read_json(source: Source) -> Iterator[KnownEntity | KnownFact]:
    """Of a file with one object a line, or with one array of them."""
    for place, record in records(source, raise_flaw):
        yield _known(record, place)


def read_table(source: Source) -> Iterator[KnownEntity | KnownFact]:
    """Of a table with tabs between its columns."""
    lines = source.lines(raise_flaw)
    _, first = next(lines)
    columns = first.split("\t")
    if not ({"id", "name"} <= set(columns) or set(_FACT_COLUMNS) <= set(columns)):
        known = ", ".join((*_ENTITY_COLUMNS, *_FACT_COLUMNS))
        raise InputError("knowledge-columns", source.place, columns=first, known=known)
    for number, line in lines:
        if not line.strip():
            continue
        cells = line.split("\t")
        place = Place(file=str(source.path), line=number)
        if len(cells) > len(columns):
            raise InputError("knowledge-cells", place, count=len(cells), columns=len(columns))
        yield _known(_of_cells(dict(zip(columns, cells, strict=False)), place), place)


def _of_cells(cells: Mapping[str, str], place: Place) -> dict[str, Any]:
    record: dict[str, Any] = {key: value for key, value in cells.items() if value}
    if "aliases" in record:
        record["aliases"] = [alias for alias in record["aliases"].split("|") if alias]
    if "count" in record:
        if not record["count"].isdecimal():
            raise InputError("knowledge-count", place, count=record["count"])
        record["count"] = int(record["count"])
    return record


def _known(record: object, place: Place) -> KnownEntity | KnownFact:
    findings = Findings(place, raise_flaw)
    is_fact = isinstance(record, dict) and "head" in record
    found = conforming(_FACT if is_fact else _ENTITY, record, findings)
    assert found is not None  # else a flaw was raised
    return found.known()
