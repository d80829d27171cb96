"""Which of the relations that a model finds are wanted: the user's schema.

    >>> names = {"P112": "founded by", "P19": "place of birth"}
    >>> schema = make_schema(names, relations=["founded_by"], thresholds={"P112": 0.6})
    >>> schema.relations, schema.least_score("P112")
    (frozenset({'P112'}), 0.6)

Relations are given by id or by their name in words, in any spelling: "P112", "founded by",
"Founded_by". The same settings can stand in a TOML or JSON file (`read_schema_file`).
"""

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Unpack

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict  # pydantic asks for this one before Python 3.12

from factloom.document import Document, Relation
from factloom.errors import InputError, Place

Probability = Annotated[float, Field(ge=0, le=1)]
TypePair = tuple[str, str]  # of the head, of the tail


@with_config(ConfigDict(extra="forbid"))
class SchemaSettings(TypedDict, total=False):
    """What a user may say about the relations; each setting may lack.

    relations         only these are kept; all by default
    minimum_score     the least score of relations that have no threshold of their own
    thresholds        {relation: least score}
    type_constraints  {relation: [(head type, tail type), ...]}; others may have any types
    """

    relations: list[str]
    minimum_score: Probability
    thresholds: dict[str, Probability]
    type_constraints: dict[str, list[TypePair]]


@dataclass(frozen=True, slots=True)
class Schema:
    """The settings, in the relation ids of a model."""

    relations: frozenset[str] | None = None  # None: all
    minimum_score: float = 0.0
    thresholds: Mapping[str, float] = field(default_factory=dict)
    type_constraints: Mapping[str, frozenset[TypePair]] = field(default_factory=dict)

    def least_score(self, relation: str) -> float:
        return self.thresholds.get(relation, self.minimum_score)

    def restrict(self, document: Document) -> Document:
        """The document with only the relations that are wanted."""
        wanted = tuple(r for r in document.relations if self._wants(document, r))
        return document.replace(relations=wanted)

    def _wants(self, document: Document, relation: Relation) -> bool:
        if self.relations is not None and relation.type not in self.relations:
            return False
        # What has no score was not predicted, but given.
        if relation.score is not None and relation.score < self.least_score(relation.type):
            return False
        allowed = self.type_constraints.get(relation.type)
        types = (document.entities[relation.head].type, document.entities[relation.tail].type)
        return allowed is None or types in allowed


def make_schema(names: Mapping[str, str], **settings: Unpack[SchemaSettings]) -> Schema:
    """The schema for a model whose relations are the keys of `names`, with their words."""
    checked = _checked(settings, Place())
    lookup = _Lookup(names)
    wanted = checked.get("relations")
    return Schema(
        relations=None if wanted is None else frozenset(i for r in wanted for i in lookup.ids(r)),
        minimum_score=checked.get("minimum_score", 0.0),
        thresholds={
            identifier: least
            for relation, least in checked.get("thresholds", {}).items()
            for identifier in lookup.ids(relation)
        },
        type_constraints={
            identifier: frozenset(pairs)
            for relation, pairs in checked.get("type_constraints", {}).items()
            for identifier in lookup.ids(relation)
        },
    )


def read_schema_file(path: str | Path) -> SchemaSettings:
    """The settings in a TOML or JSON file, such as `factloom find-threshold` writes."""
    place = Place(file=str(path))
    try:
        text = Path(path).read_text(encoding="utf-8")
        content = json.loads(text) if Path(path).suffix == ".json" else tomllib.loads(text)
    except FileNotFoundError:
        raise InputError("file-missing", place) from None
    except OSError as error:
        raise InputError("file-unreadable", place, detail=error.strerror) from None
    except ValueError as error:  # neither TOML nor JSON, or not UTF-8
        raise InputError("schema-file", place, detail=error) from None
    return _checked(content, place)


def _checked(settings: Any, place: Place) -> SchemaSettings:
    try:
        return TypeAdapter(SchemaSettings).validate_python(settings)
    except ValidationError as error:
        first = error.errors()[0]
        part = ".".join(str(key) for key in first["loc"])
        where = Place(file=place.file, part=part)
        raise InputError("schema-setting", where, detail=first["msg"]) from None


class _Lookup:
    """Relations by id or by words."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.by_words: dict[str, list[str]] = {}  # two relations may be called the same
        for identifier, name in names.items():
            self.by_words.setdefault(_plain(name), []).append(identifier)

    def ids(self, given: str) -> list[str]:
        if given in self.names:
            return [given]
        found = self.by_words.get(_plain(given)) or self._without_case(given)
        if not found:
            near = ", ".join(self._near(given)) or "none"
            raise InputError("unknown-relation", relation=given, near=near)
        return found

    def _without_case(self, given: str) -> list[str]:
        return [identifier for identifier in self.names if _plain(identifier) == _plain(given)]

    def _near(self, given: str) -> Iterator[str]:
        """Relations that are spelled much like the given one, in words and with their id."""
        spellings = {_plain(identifier): identifier for identifier in self.names}
        spellings |= {words: ids[0] for words, ids in self.by_words.items()}
        close = difflib.get_close_matches(_plain(given), spellings, n=3, cutoff=0.5)
        for identifier in dict.fromkeys(spellings[spelling] for spelling in close):
            yield f"{self.names[identifier]} ({identifier})"


def _plain(name: str) -> str:
    """Letters and digits alone: "Founded_by" and "founded by" are the same name."""
    return " ".join(re.split(r"[\W_]+", name.casefold())).strip()
