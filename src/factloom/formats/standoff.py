"""The lines of brat's annotations: what they mean, and those that say what a Document holds.

    T1<tab>PER 0 3<tab>Ada                      a mention: type, half-open characters, text
    T2<tab>LOC 16 22;30 35<tab>London there     one with a gap
    R1<tab>born_in Arg1:T1 Arg2:T2              a relation
    *<tab>Equiv T1 T3                           two mentions of one entity
    E1<tab>Birth:T4 Child:T1                    an event: its trigger, and roles
    A1<tab>Negation T1                          an attribute, sometimes with a value
    N1<tab>Reference T1 Wikidata:Q7259<tab>Ada  the entity in a data base
    #1<tab>AnnotatorNotes T1<tab>sure?          a note

A mention with a gap counts as the whole stretch, its parts are kept. An event counts as one
relation for each role, from its trigger to the mention (or trigger) that plays it.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, Field, ValidationError

from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import DocumentError, Place
from factloom.files.report import Findings
from factloom.formats.character_mentions import mention_at
from factloom.formats.linked_mentions import Link, join_mentions, links_of, mention_identifiers

_SPANS = re.compile(r"[0-9]{1,9} [0-9]{1,9}(?:;[0-9]{1,9} [0-9]{1,9})*")
_IDENTIFIER = re.compile(r"T[0-9]+\S*")
_IN_LINE = re.compile(r"[^\r\n]+")
_ROLES = ["Arg1", "Arg2"]
_NO_DATABASE = "id:"  # in front of an identifier that names no data base


class Line(NamedTuple):
    number: int
    text: str


class Annotations(NamedTuple):
    mentions: tuple[Mention, ...]
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


def read_lines(lines: Sequence[Line], text: str, findings: Findings) -> Annotations:
    return _Reader(text, findings).read(lines)


class _Reader:
    """Takes mentions, entities and relations out of the lines of one file."""

    def __init__(self, text: str, findings: Findings) -> None:
        self._text = text
        self._findings = findings
        self._mentions: list[Mention] = []
        self._mention_of: dict[str, int] = {}  # identifier of a mention or an event
        self._more: dict[str, dict[str, Any]] = {}  # identifier: attributes, references, notes
        self._links: list[Link] = []

    def read(self, lines: Sequence[Line]) -> Annotations:
        rows = [(line.number, line.text.split("\t")) for line in lines]
        # What is referred to is read before what refers to it, whatever the order of the lines.
        for kinds, take in (
            ("T", self._read_mention),
            ("E", self._read_trigger),
            ("AMN#", self._read_more),
            ("*", self._read_equivalence),
            ("R", self._read_relation),
            ("E", self._read_event),
        ):
            for number, row in rows:
                if row[0][:1] in tuple(kinds):
                    take(number, row)
        for number, row in rows:
            if row[0][:1] not in tuple("TREAMN#*"):
                self._add_wrong(number, row[0], "T, R, E, A, M, N, # or * at the beginning")
        for identifier, index in self._mention_of.items():
            mention = self._mentions[index]
            attributes = {**mention.attributes, **self._more.get(identifier, {})}
            self._mentions[index] = replace(mention, attributes=attributes)
        mentions = tuple(self._mentions)
        entities, relations = join_mentions(mentions, self._links, self._findings)
        named = tuple(_with_identifier(entity, mentions) for entity in entities)
        return Annotations(mentions, named, relations)

    def _read_mention(self, number: int, row: list[str]) -> None:
        kind, _, spans = (row[1] if len(row) > 1 else "").partition(" ")
        if not _SPANS.fullmatch(spans):
            self._add_wrong(number, "\t".join(row), "a mention such as 'T1<tab>PER 0 3<tab>Ada'")
            return
        fragments = [[int(n) for n in span.split(" ")] for span in spans.split(";")]
        start, end = min(a for a, _ in fragments), max(b for _, b in fragments)
        parts = [self._text[a:b] for a, b in fragments]
        shown = "\t".join(row[2:])
        attributes: dict[str, Any] = {"id": row[0]}
        if len(fragments) > 1:
            attributes["fragments"] = fragments
            if "".join("".join(parts).split()) != "".join(self._text[start:end].split()):
                gap = {"count": len(fragments), "start": start, "end": end}
                self._findings.add("discontinuous-mention", row[0], number, **gap)
        # Line ends become spaces there: that is no other name.
        named = "".join(shown.split()) not in ("", "".join("".join(parts).split()))
        self._name(number, row[0], len(self._mentions))
        span = (start, end)
        self._mentions.append(
            mention_at(
                self._text,
                span,
                kind,
                self._findings,
                row[0],
                number,
                name=shown if named else None,
                attributes=attributes,
            )
        )

    def _read_trigger(self, number: int, row: list[str]) -> None:
        trigger = (_words(row) or [""])[0].partition(":")[2]
        if trigger in self._mention_of:
            self._name(number, row[0], self._mention_of[trigger])
        else:
            self._add_unknown(number, row[0], "trigger", trigger)

    def _read_more(self, number: int, row: list[str]) -> None:
        """Attributes, references and notes: they say more about another line."""
        words = _words(row)
        if len(words) < 2 or (row[0].startswith("N") and len(words) < 3):
            self._add_wrong(number, "\t".join(row), "a line such as 'A1<tab>Negation T1'")
            return
        name, target, *value = words
        more = self._more.setdefault(target, {})
        if row[0].startswith("N"):
            more.setdefault("references", []).append([value[0], *row[2:3]])
        elif row[0].startswith("#"):
            more.setdefault("notes", []).append([name, *row[2:3]])
        else:
            more.setdefault("attributes", {})[name] = " ".join(value) if value else True

    def _read_equivalence(self, number: int, row: list[str]) -> None:
        kind, *members = _words(row) or [""]
        for member in members[1:]:
            self._link(number, row[0], (members[0], member), kind, {})

    def _read_relation(self, number: int, row: list[str]) -> None:
        kind, *arguments = _words(row) or [""]
        if len(arguments) != 2:
            self._add_wrong(number, "\t".join(row), "a relation of two arguments")
            return
        roles = [argument.partition(":")[0] for argument in arguments]
        head, tail = (argument.partition(":")[2] for argument in arguments)
        attributes = {"id": row[0], **({} if roles == _ROLES else {"roles": roles})}
        more = self._more.get(row[0], {})
        self._link(number, row[0], (head, tail), kind, attributes | more)

    def _read_event(self, number: int, row: list[str]) -> None:
        for argument in _words(row)[1:]:
            role, _, player = argument.partition(":")
            self._link(number, row[0], (row[0], player), role, {"event": row[0]})

    def _link(
        self, number: int, part: str, ends: tuple[str, str], kind: str, attributes: dict[str, Any]
    ) -> None:
        unknown = [end for end in ends if end not in self._mention_of]
        for identifier in unknown:
            self._add_unknown(number, part, "argument", identifier)
        if not unknown:
            head, tail = (self._mention_of[end] for end in ends)
            self._links.append(Link(head, tail, kind, attributes, part, number))

    def _name(self, number: int, identifier: str, mention: int) -> None:
        if identifier in self._mention_of:
            self._findings.add("repeated-identifier", "", number, identifier=identifier)
        self._mention_of[identifier] = mention

    def _add_unknown(self, number: int, part: str, role: str, identifier: str) -> None:
        values = {"role": role, "identifier": identifier}
        self._findings.add("unknown-identifier", part, number, **values)

    def _add_wrong(self, number: int, value: str, expected: str) -> None:
        self._findings.add("wrong-field", "", number, value=value, expected=expected)


def _words(row: list[str]) -> list[str]:
    return [word for word in (row[1] if len(row) > 1 else "").split(" ") if word]


def _with_identifier(entity: Entity, mentions: Sequence[Mention]) -> Entity:
    for index in entity.mentions:
        for reference in mentions[index].attributes.get("references", ()):
            return replace(entity, id=_without_database(reference[0]))
    return entity


class _More(BaseModel):
    """What brat says about a mention or relation beyond type and place."""

    fragments: list[tuple[int, int]] = Field(default_factory=list)
    roles: list[str] = Field(default_factory=list)
    attributes: dict[str, str | bool] = Field(default_factory=dict)
    references: list[list[str]] = Field(default_factory=list)
    notes: list[list[str]] = Field(default_factory=list)

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> Self:
        try:
            return cls.model_validate(attributes)
        except ValidationError:  # somebody else's attributes
            return cls()


def lines_of(document: Document) -> Iterator[str]:
    """The lines that say what a document holds, in brat's usual order of kinds."""
    return _Writer(document).lines()


class _Writer:
    """Makes the lines of a Document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._identifiers = mention_identifiers(
            document, _own_identifier, (f"T{number}" for number in itertools.count(1))
        )
        self._relations = [link for link in links_of(document) if not link.is_coreference]

    def lines(self) -> Iterator[str]:
        yield from self._mention_lines()
        for entity in self._document.entities:
            if len(entity.mentions) > 1:
                members = (self._identifiers[mention] for mention in entity.mentions)
                yield f"*\tEquiv {' '.join(members)}"
        for number, link in enumerate(self._relations, start=1):
            roles = _More.of(link.attributes).roles
            head, tail = roles if len(roles) == 2 else _ROLES
            arguments = (
                f"{head}:{self._identifiers[link.head]} {tail}:{self._identifiers[link.tail]}"
            )
            yield f"R{number}\t{self._word(link.type)} {arguments}"
        for kind, lines in (("A", self._attributes()), ("N", self._references())):
            yield from (f"{kind}{number}\t{line}" for number, line in enumerate(lines, start=1))
        yield from (f"#{number}\t{line}" for number, line in enumerate(self._notes(), start=1))

    def _mention_lines(self) -> Iterator[str]:
        text = self._document.text
        for mention, identifier in zip(self._document.mentions, self._identifiers, strict=True):
            fragments = self._fragments(mention)
            spans = ";".join(f"{start} {end}" for start, end in fragments)
            shown = " ".join(text[start:end] for start, end in fragments)
            name = _one_line(shown if mention.name is None else mention.name)
            yield f"{identifier}\t{self._word(mention.type)} {spans}\t{name}"

    def _fragments(self, mention: Mention) -> list[tuple[int, int]]:
        """The parts that the source had, else one for each line: none may hold a line end."""
        own = _More.of(mention.attributes).fragments
        if own and (min(own)[0], max(end for _, end in own)) == (mention.start, mention.end):
            return own
        lines = _IN_LINE.finditer(self._document.text, mention.start, mention.end)
        found = [line.span() for line in lines]
        if not found:
            raise self._not_writable("\n", "a mention has to hold more than line ends")
        return found

    def _targets(self) -> Iterator[tuple[str, _More]]:
        for identifier, mention in zip(self._identifiers, self._document.mentions, strict=True):
            yield identifier, _More.of(mention.attributes)
        for number, link in enumerate(self._relations, start=1):
            yield f"R{number}", _More.of(link.attributes)

    def _attributes(self) -> Iterator[str]:
        for target, more in self._targets():
            for name, value in more.attributes.items():
                words = [name, target] if value is True else [name, target, str(value)]
                yield _one_line(" ".join(words))

    def _references(self) -> Iterator[str]:
        """The data base entries of mentions; an entity's own id is the first of them."""
        document = self._document
        found = [_More.of(mention.attributes).references for mention in document.mentions]
        for index, entity in enumerate(document.entities):
            known = [reference[0] for mention in entity.mentions for reference in found[mention]]
            if entity.id is None or [entity.id] == [_without_database(one) for one in known[:1]]:
                continue
            bare = ":" not in entity.id or entity.id.startswith(_NO_DATABASE)
            own = _NO_DATABASE + entity.id if bare else entity.id
            first = entity.mentions[0]
            found[first] = [[self._word(own), document.name(index)], *found[first]]
        for identifier, references in zip(self._identifiers, found, strict=True):
            for reference, *name in references:
                yield _one_line("\t".join([f"Reference {identifier} {reference}", *name]))

    def _notes(self) -> Iterator[str]:
        for target, more in self._targets():
            for kind, *text in more.notes:
                yield _one_line("\t".join([f"{kind} {target}", *text]))

    def _word(self, value: str) -> str:
        if not value or value.split() != [value]:
            raise self._not_writable(value, "it has to be one word")
        return value

    def _not_writable(self, value: str, detail: str) -> DocumentError:
        place = Place(document=self._document.id)
        return DocumentError("not-writable", place, value=value, detail=detail)


def _own_identifier(found: object) -> str | None:
    return found if isinstance(found, str) and _IDENTIFIER.fullmatch(found) else None


def _without_database(reference: str) -> str:
    return reference.removeprefix(_NO_DATABASE)


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")
