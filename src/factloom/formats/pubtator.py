"""PubTator: a title, an abstract, mentions by character offsets, relations by identifier.

    123|t|Aspirin and asthma.
    123|a|Aspirin may cause asthma.
    123<tab>0<tab>7<tab>Aspirin<tab>Chemical<tab>D001241
    123<tab>CID<tab>D001241<tab>D001249

Offsets count the title, one character, the abstract. Mentions with the same identifier are one
entity; a mention with several identifiers (`A,B`) belongs to several entities, one without
(`-`) is an entity of its own; an identifier that a relation names is never split. BioRED's
fifth column of a relation is kept as `novelty`.

Wei, Kao, Lu, PubTator, Nucleic Acids Research 2013; Luo et al., BioRED, 2022.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import DocumentError, InputError, Place
from factloom.files import source as limits
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.text.sentences import find_sentences

_PASSAGE = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_FIRST_LINE = re.compile(r"\s*[^|\t\n]+\|[ta]\|")
_OFFSET = re.compile(r"[0-9]{1,9}")
_MESH_IDENTIFIERS = re.compile(r"[CD][0-9]{6,}(\|[CD][0-9]{6,})+")
_NO_IDENTIFIER = "-"


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return _FIRST_LINE.match(head) is not None


def read(source: Source, report: Report) -> Iterator[Document]:
    for lines in _documents(source, report):
        findings = Findings(Place(file=str(source.path), line=lines[0].number), report)
        document = _Reader(findings).document(lines)
        if document is not None:
            yield document


class _Line(NamedTuple):
    number: int
    text: str


def _documents(source: Source, report: Report) -> Iterator[list[_Line]]:
    """The lines of each document: they end at a blank line or at the next title."""
    lines: list[_Line] = []
    length = 0
    for number, text in source.lines(report):
        passage = _PASSAGE.fullmatch(text)
        if lines and (not text.strip() or (passage and passage[2] == "t")):
            yield lines
            lines, length = [], 0
        if text.strip():
            lines.append(_Line(number, text))
            length += len(text)
        if length > limits.MAXIMUM_RECORD:
            place = Place(file=str(source.path), line=number)
            raise InputError("record-too-long", place, limit=limits.MAXIMUM_RECORD)
    if lines:
        yield lines


class _Reader:
    """Makes a Document of the lines of one."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._passages: dict[str, str] = {}  # t and a: title and abstract
        self._text = ""
        self._mentions: list[Mention] = []
        self._members: list[tuple[str | None, list[int]]] = []  # identifier, mentions: entities
        self._entities: dict[str, int] = {}  # identifier: entity
        self._relations: list[Relation] = []

    def document(self, lines: list[_Line]) -> Document | None:
        identifier = re.split(r"[|\t]", lines[0].text, maxsplit=1)[0]
        self._findings.name_document(identifier)
        rows = list(self._read_passages(identifier, lines))
        if not self._passages:
            self._findings.add("missing-passage", "")
        title, abstract = self._passages.get("t", ""), self._passages.get("a", "")
        self._text = f"{title}\n{abstract}" if abstract else title
        relations = [(number, row) for number, row in rows if not _is_mention(row)]
        whole = {identifier for _, row in relations for identifier in row[2:4]}
        for number, row in rows:
            if _is_mention(row):
                self._read_mention(number, row, whole)
        for number, row in relations:
            self._read_relation(number, row)
        spans = [(mention.start, mention.end) for mention in self._mentions]
        return self._findings.document(
            text=self._text,
            id=identifier,
            sentences=find_sentences(self._text, whole=spans, breaks=[len(title)]),
            mentions=tuple(self._mentions),
            entities=tuple(
                Entity(tuple(members), self._mentions[members[0]].type, id=outside)
                for outside, members in self._members
            ),
            relations=tuple(self._relations),
        )

    def _read_passages(
        self, identifier: str, lines: list[_Line]
    ) -> Iterator[tuple[int, list[str]]]:
        """Take title and abstract; give back the columns of all other lines."""
        for number, text in lines:
            passage = _PASSAGE.fullmatch(text)
            row = text.split("\t")
            found = passage[1] if passage else row[0]
            if found != identifier:
                self._findings.add("wrong-identifier", "", number, found=found)
            elif passage is None:
                yield number, row
            elif passage[2] in self._passages:
                self._findings.add("repeated-passage", "", number, kind=passage[2])
            else:
                self._passages[passage[2]] = passage[3]

    def _read_mention(self, number: int, row: list[str], whole: Collection[str]) -> None:
        if len(row) < 5:
            expected = "at least 5: document, start, end, text, type"
            self._findings.add("wrong-columns", "", number, count=len(row), expected=expected)
            return
        start, end, name, kind = int(row[1]), int(row[2]), row[3], row[4]
        index = len(self._mentions)
        if not 0 <= start < end <= len(self._text):
            span = {"start": start, "end": end, "length": len(self._text)}
            self._findings.add("span-outside-text", f"mention {index}", number, **span)
            start, end = 0, len(self._text)  # a stand-in: the rest can still be checked
        attributes: dict[str, object] = {}
        identifiers = split_identifiers(row[5], whole) if len(row) > 5 else []
        if len(row) != 6 or [row[5]] != (identifiers or [_NO_IDENTIFIER]):
            attributes["columns"] = row[5:]
        shown = self._text[start:end]
        self._mentions.append(
            Mention(start, end, kind, name=None if name == shown else name, attributes=attributes)
        )
        for identifier in identifiers:
            entity = self._entities.setdefault(identifier, len(self._members))
            if entity == len(self._members):
                self._members.append((identifier, []))
            self._members[entity][1].append(index)
        if not identifiers:
            self._members.append((None, [index]))

    def _read_relation(self, number: int, row: list[str]) -> None:
        if len(row) not in (4, 5):
            expected = "4 or 5 for a relation (or 6 for a mention, with its offsets as numbers)"
            self._findings.add("wrong-columns", "", number, count=len(row), expected=expected)
            return
        kind, *ends = row[1:4]
        part = f"relation {len(self._relations)}"
        for role, identifier in zip(("head", "tail"), ends, strict=True):
            if identifier not in self._entities:
                values = {"role": role, "identifier": identifier}
                self._findings.add("unknown-identifier", part, number, **values)
        if all(identifier in self._entities for identifier in ends):
            head, tail = (self._entities[identifier] for identifier in ends)
            attributes = {"novelty": row[4]} if len(row) == 5 else {}
            self._relations.append(Relation(head, tail, kind, attributes=attributes))


def _is_mention(row: list[str]) -> bool:
    return len(row) > 2 and all(_OFFSET.fullmatch(column) for column in row[1:3])


def split_identifiers(column: str, whole: Collection[str] = ()) -> list[str]:
    """The identifiers of a mention, each once; what relations name as a `whole` is one.

    >>> split_identifiers("3172,3651"), split_identifiers("-"), split_identifiers("p|SUB|V|9|M")
    (['3172', '3651'], [], ['p|SUB|V|9|M'])
    """
    if column in whole:
        return [column]
    separators = "[,;|]" if _MESH_IDENTIFIERS.fullmatch(column) else "[,;]"
    parts = (part.strip() for part in re.split(separators, column))
    return list(dict.fromkeys(part for part in parts if part not in ("", _NO_IDENTIFIER)))


def write(documents: Iterable[Document]) -> Iterator[str]:
    """The blocks of a file, with a blank line behind each."""
    for document in documents:
        yield "\n".join(_lines(document)) + "\n\n"


def _lines(document: Document) -> Iterator[str]:
    place = Place(document=document.id)
    if not re.fullmatch(r"[^|\t\n\r]+", document.id):
        detail = "a document needs an id, without '|', tabs and line ends"
        raise DocumentError("not-writable", place, value=document.id, detail=detail)
    # The first line is the title. Other line ends become spaces, so that the offsets stay right.
    title, _, abstract = document.text.partition("\n")
    yield f"{document.id}|t|{_one_line(title)}"
    yield f"{document.id}|a|{_one_line(abstract)}"
    identifiers = _identifiers(document)
    named: list[list[str]] = [[] for _ in document.mentions]
    for entity, identifier in zip(document.entities, identifiers, strict=True):
        for index in entity.mentions:
            named[index].append(identifier)
    for index, mention in enumerate(document.mentions):
        if not abstract and mention.end > len(title):
            value = document.text[mention.start : mention.end]
            detail = (
                "without an abstract no line end is read behind the title; end the mention there"
            )
            raise DocumentError("not-writable", place, value=value, detail=detail)
        span = str(mention.start), str(mention.end)
        name = _one_line(document.mention_name(index))
        columns = _identifier_columns(mention, named[index])
        yield _row(place, document.id, *span, name, mention.type, *columns)
    for relation in document.relations:
        ends = identifiers[relation.head], identifiers[relation.tail]
        novelty = relation.attributes.get("novelty")
        more = [novelty] if isinstance(novelty, str) else []
        yield _row(place, document.id, relation.type, *ends, *more)


def _identifiers(document: Document) -> list[str]:
    """An identifier for each entity; those that have none and need one get E0, E1, ..."""
    taken = {entity.id for entity in document.entities}
    used = {end for relation in document.relations for end in (relation.head, relation.tail)}
    identifiers = []
    for index, entity in enumerate(document.entities):
        identifier = entity.id or _NO_IDENTIFIER
        if entity.id is None and (index in used or len(entity.mentions) > 1):
            identifier = f"E{index}"
            while identifier in taken:
                identifier += "_"
        if index not in used and len(split_identifiers(identifier)) > 1:
            place = Place(document=document.id, part=f"entity {index}")
            detail = "it would be read as several identifiers"
            raise DocumentError("not-writable", place, value=identifier, detail=detail)
        identifiers.append(identifier)
    return identifiers


def _identifier_columns(mention: Mention, identifiers: list[str]) -> list[str]:
    """The source's own spelling of the identifiers if they are still the same."""
    columns = mention.attributes.get("columns")
    named = [identifier for identifier in identifiers if identifier != _NO_IDENTIFIER]
    if isinstance(columns, list) and all(isinstance(column, str) for column in columns):
        spelt = split_identifiers(columns[0], named) if columns else []
        if sorted(spelt) == sorted(named):
            return columns
    return [",".join(named) or _NO_IDENTIFIER]


def _one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")


def _row(place: Place, *columns: str) -> str:
    for column in columns:
        if "\t" in column or "\n" in column or "\r" in column:
            detail = "tabs and line ends separate columns and lines in it"
            raise DocumentError("not-writable", place, value=column, detail=detail)
    return "\t".join(columns)
