"""Which of the relations that a model finds are wanted: the user's schema.

    >>> names = {"P112": "founded by", "P19": "place of birth"}
    >>> schema = make_schema(names, relations=["founded_by"], thresholds={"P112": 0.6})
    >>> schema.relations, schema.least_score("P112")
    (frozenset({'P112'}), 0.6)

Relations are given by id or by their name in words, in any spelling: "P112", "founded by",
"Founded_by". The same settings can stand in a TOML or JSON file (`read_schema_file`). What cannot
be meant, such as a type that the model never finds, is an error: it would keep nothing, silently.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar, Unpack

from pydantic import ConfigDict, Field, InstanceOf, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict  # pydantic asks for this one before Python 3.12

from factloom.document import Document, Relation
from factloom.errors import InputError, Place

Probability = Annotated[float, Field(ge=0, le=1)]
TypePair = tuple[str, str]  # of the head, of the tail
Name = InstanceOf[str]  # not copied, so that a `NameInFile` stays one
Value = TypeVar("Value")
_MOST_ALIKE = 5  # names that are suggested


@with_config(ConfigDict(extra="forbid"))
class SchemaSettings(TypedDict, total=False):
    """What a user may say about the relations; each setting may lack.

    relations         only these are kept; all by default
    minimum_score     the least score of relations that have no threshold of their own
    thresholds        {relation: least score}
    type_constraints  {relation: [(head type, tail type), ...]}; others may have any types
    """

    relations: list[Name]
    minimum_score: Probability
    thresholds: dict[Name, Probability]
    type_constraints: dict[Name, list[TypePair]]


class NameInFile(str):
    """A name as a file has it, which knows that file: an error about the name tells it."""

    file: str | None = None


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


def make_schema(
    names: Mapping[str, str], types: Collection[str] = (), **settings: Unpack[SchemaSettings]
) -> Schema:
    """The schema for a model whose relations are the keys of `names`, with their words.

    `types` are those of the entities that it finds; where they are not known, any may be given.
    """
    checked = _checked(settings, Place())
    lookup = _Lookup(names)
    constraints = checked.get("type_constraints", {})
    if types:
        _check_types(constraints, types)
    return Schema(
        relations=lookup.wanted(checked["relations"]) if "relations" in checked else None,
        minimum_score=checked.get("minimum_score", 0.0),
        thresholds=lookup.by_id("thresholds", checked.get("thresholds", {})),
        type_constraints=lookup.by_id(
            "type_constraints", {name: frozenset(pairs) for name, pairs in constraints.items()}
        ),
    )


def read_schema_file(path: str | Path) -> SchemaSettings:
    """The settings in a TOML or JSON file, such as `factloom find-threshold` writes."""
    place = Place(file=str(path))
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        content = json.loads(text) if Path(path).suffix.lower() == ".json" else tomllib.loads(text)
    except FileNotFoundError:
        raise InputError("file-missing", place) from None
    except OSError as error:
        raise InputError("file-unreadable", place, detail=error.strerror) from None
    except ValueError as error:  # neither TOML nor JSON, or not UTF-8
        raise InputError("schema-file", place, detail=error) from None
    return _checked(_with_names_in_file(content, str(path)), place)


def _with_names_in_file(content: Any, file: str) -> Any:
    """The content of a file, every text in it being a `NameInFile`."""
    match content:
        case str():
            name = NameInFile(content)
            name.file = file
            return name
        case list():
            return [_with_names_in_file(item, file) for item in content]
        case dict():
            return {
                _with_names_in_file(key, file): _with_names_in_file(value, file)
                for key, value in content.items()
            }
    return content


def _checked(settings: Any, place: Place) -> SchemaSettings:
    try:
        checked = TypeAdapter(SchemaSettings).validate_python(settings)
    except ValidationError as error:
        first = error.errors()[0]
        part = ".".join(str(key) for key in first["loc"])
        where = Place(file=place.file, part=part)
        raise InputError("schema-setting", where, detail=first["msg"]) from None
    _refuse_empty_lists(checked, place)
    return checked


def _refuse_empty_lists(settings: SchemaSettings, place: Place) -> None:
    constraints = settings.get("type_constraints", {})
    empty = [f"type_constraints.{name}" for name, pairs in constraints.items() if not pairs]
    if "relations" in settings and not settings["relations"]:
        empty.insert(0, "relations")
    if empty:
        raise InputError("nothing-kept", Place(file=place.file, part=empty[0]))


def _check_types(constraints: Mapping[str, list[TypePair]], types: Collection[str]) -> None:
    spellings = {_plain(known): known for known in types}
    for relation, pairs in constraints.items():
        for given in (one for pair in pairs for one in pair):
            if given not in types:
                place = _place(relation, f"type_constraints.{relation}")
                near = _alike(given, spellings)
                known = ", ".join(types)
                raise InputError("unknown-entity-type", place, type=given, near=near, known=known)


def _place(name: str, part: str) -> Place:
    return Place(file=name.file if isinstance(name, NameInFile) else None, part=part)


class _Lookup:
    """Relations by id or by words."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.by_words: dict[str, list[str]] = {}  # two relations may be called the same
        for identifier, name in names.items():
            self.by_words.setdefault(_plain(name), []).append(identifier)

    def wanted(self, relations: list[str]) -> frozenset[str]:
        return frozenset(
            identifier for given in relations for identifier in self._ids(given, "relations")
        )

    def by_id(self, setting: str, values: Mapping[str, Value]) -> dict[str, Value]:
        """The values of a setting by the ids of the relations; each may have one only."""
        named: dict[str, str] = {}
        for given in values:
            for identifier in self._ids(given, setting):
                if identifier in named:
                    other, place = named[identifier], _place(given, setting)
                    raise InputError("relation-twice", place, one=other, other=given)
                named[identifier] = given
        return {identifier: values[given] for identifier, given in named.items()}

    def _ids(self, given: str, setting: str) -> list[str]:
        if given in self.names:
            return [str(given)]
        found = self.by_words.get(_plain(given)) or self._without_case(given)
        if not found:
            place, near = _place(given, setting), self._near(given)
            raise InputError("unknown-relation", place, relation=given, near=near)
        return found

    def _without_case(self, given: str) -> list[str]:
        return [identifier for identifier in self.names if _plain(identifier) == _plain(given)]

    def _near(self, given: str) -> str:
        """Relations that are spelled much like the given one, in words and with their id."""
        spellings = {_plain(identifier): identifier for identifier in self.names}
        spellings |= {words: ids[0] for words, ids in self.by_words.items()}
        shown = {
            spelling: f"{self.names[identifier]} ({identifier})"
            for spelling, identifier in spellings.items()
        }
        return _alike(given, shown)


def _alike(given: str, shown: Mapping[str, str]) -> str:
    """What is shown for the plain spellings like the given one, those that go on with it first."""
    plain = _plain(given)
    longer = [spelling for spelling in shown if plain and spelling.startswith(plain)]
    close = difflib.get_close_matches(plain, shown, n=3, cutoff=0.5)
    shorter = [spelling for spelling in shown if spelling and plain.startswith(spelling)]
    alike = list(dict.fromkeys(shown[spelling] for spelling in (*longer, *close, *shorter)))
    return ", ".join(alike[:_MOST_ALIKE]) or "none"


def _plain(name: str) -> str:
    """Letters and digits alone: "Founded_by" and "founded by" are the same name."""
    return " ".join(re.split(r"[\W_]+", name.casefold())).strip()
