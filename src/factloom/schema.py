"""Which of the relations that a model finds are wanted: the user's schema.

    >>> names = {"P112": "founded by", "P19": "place of birth"}
    >>> schema = make_schema(names, relations=["founded_by"], thresholds={"P112": 0.6})
    >>> schema.relations, schema.least_score("P112")
    (frozenset({'P112'}), 0.6)

Relations are given by id or by their name in words, in any spelling: "P112", "founded by",
"Founded_by". The same settings can stand in a TOML or JSON file (`read_schema_file`). What cannot
be meant, such as a type that the model never finds, is an error: it would keep nothing, silently.
"""

import json
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar, Unpack

from pydantic import ConfigDict, Field, InstanceOf, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict  # pydantic asks for this one before Python 3.12

from factloom.document import Document, Relation
from factloom.errors import InputError, Place
from factloom.text.relation_names import RelationLookup, alike, plain

Probability = Annotated[float, Field(ge=0, le=1)]
TypePair = tuple[str, str]  # of the head, of the tail
Name = InstanceOf[str]  # not copied, so that a `NameInFile` stays one
Value = TypeVar("Value")


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
class KnownRelation:
    """A relation that can be found and is wanted."""

    id: str
    name: str  # in words; the id where nobody has said them
    type_pairs: tuple[TypePair, ...] | None  # of head and tail; None: any
    least_score: float


@dataclass(frozen=True, slots=True)
class Schema:
    """The settings, in the relation ids of a model."""

    relations: frozenset[str] | None = None  # None: all
    minimum_score: float = 0.0
    thresholds: Mapping[str, float] = field(default_factory=dict)
    type_constraints: Mapping[str, frozenset[TypePair]] = field(default_factory=dict)

    def least_score(self, relation: str) -> float:
        return self.thresholds.get(relation, self.minimum_score)

    def known(
        self, names: Mapping[str, str], type_pairs: Mapping[str, Iterable[TypePair]]
    ) -> Iterator[KnownRelation]:
        """The relations that are wanted of those in `names`, and may have types of `type_pairs`."""
        for key, name in names.items():
            if self.relations is None or key in self.relations:
                own, given = type_pairs.get(key), self.type_constraints.get(key)
                pairs = own if given is None else [p for p in own or given if tuple(p) in given]
                sure = None if pairs is None else tuple(sorted((h, t) for h, t in pairs))
                yield KnownRelation(key, name, sure, self.least_score(key))

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
    except (ValueError, RecursionError) as error:  # neither TOML nor JSON, or not UTF-8
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
    spellings = {plain(known): known for known in types}
    for relation, pairs in constraints.items():
        for given in (one for pair in pairs for one in pair):
            if given not in types:
                place = _place(relation, f"type_constraints.{relation}")
                near = alike(given, spellings)
                known = ", ".join(types)
                raise InputError("unknown-entity-type", place, type=given, near=near, known=known)


def _place(name: str, part: str) -> Place:
    return Place(file=name.file if isinstance(name, NameInFile) else None, part=part)


class _Lookup:
    """The relations of settings, which name them by id or by words."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._relations = RelationLookup(names)

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
        found = self._relations.ids(given)
        if not found:
            place, near = _place(given, setting), self._relations.near(given)
            raise InputError("unknown-relation", place, relation=given, near=near)
        return found
