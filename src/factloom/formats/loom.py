"""Texts marked by hand: names, entities, relations with their evidence, and what is not so.

    === letter-001
    [Ada Brook|PER ada] runs [Torvik Mills|ORG mills], but {she|ada} does not own {it|mills}.
    /It belongs to [Brook & Sons|ORG sons].
    --
    mills | chief executive officer | ada | 1
    mills | owned by | sons | 1 2
    not mills | owned by | ada | 1 | negation

A line of text is a sentence; `/` in front of it starts a new line of the text, `//` a paragraph.
The marks are told by loom_markup.py, the rules of good documents by loom_rules.py. A folder is read
with all `.loom` files in it. What follows from the stated relations by itself is added.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import InputError, Place, flaw
from factloom.files import source as limits
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.loom_markup import NOBODY, Mark, read_marks
from factloom.formats.loom_rules import LoomLines, broken_rules
from factloom.text.pronouns import is_pronoun
from factloom.text.relation_closure import closed
from factloom.text.relation_names import RELATION_NAMES, RelationLookup

# Why a relation that a careless reader might take from the text is not so.
REASONS = (
    "negation",
    "denial",
    "plan",
    "question",
    "rumour",
    "former",
    "other",
    "date",
    "name",
    "country",
    "condition",
)
_SUFFIX = ".loom"
_FIRST_LINE = re.compile(r"(?:\s*\n|# .*\n)*=== \S+\s*\n")
_MARKED = re.compile(r"^--\s*$|[\[{][^\[\]{}|\n]+\|[^\[\]{}|\n]+[\]}]", re.MULTILINE)
_CHINESE_END = re.compile("[\u3001-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]$")
_FACT = re.compile(r"(?:not )?[a-z0-9_]+ *\|[^|]+\| *[a-z0-9_]+ *\|[\d\s,]+(?:\|.*)?")
_RELATIONS = RelationLookup(RELATION_NAMES)
_NO_TYPE = "?"  # a stand-in where the marks give none: the rest can still be checked


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return _FIRST_LINE.match(head) is not None and _MARKED.search(head) is not None


def files_in(folder: Path) -> list[Path]:
    """All files of this format in a folder and in the folders in it."""
    return sorted((*folder.rglob(f"*{_SUFFIX}"), *folder.rglob(f"*{_SUFFIX}.gz")))


def read(source: Source, report: Report) -> Iterator[Document]:
    folder = source.path.is_dir()
    paths = files_in(source.path) if folder else [source.path]
    if not paths:
        raise InputError("file-is-directory", source.place)
    seen: set[str] = set()
    for path in paths:
        for block in _blocks(Source(path), report):
            findings = Findings(Place(file=str(path), line=block.line), report)
            findings.name_document(block.id)
            if block.id in seen:
                findings.add("repeated-document", "")
            seen.add(block.id)
            document = _Reader(findings).document(block)
            if document is not None:
                yield document


class _Line(NamedTuple):
    number: int
    text: str


@dataclass(slots=True)
class _Block:
    """The lines of one document."""

    id: str
    line: int
    sentences: list[_Line] = field(default_factory=list)
    facts: list[_Line] = field(default_factory=list)


def _blocks(source: Source, report: Report) -> Iterator[_Block]:
    block: _Block | None = None
    outside = in_facts = False
    length = 0
    for number, line in source.lines(report):
        text = line.strip()
        length += len(text)
        place = Place(file=str(source.path), line=number)
        if length > limits.MAXIMUM_RECORD:
            raise InputError("record-too-long", place, limit=limits.MAXIMUM_RECORD)
        if not text or line.startswith("# "):
            continue
        if line.startswith("==="):
            if block is not None:
                yield block
            block, in_facts, length = _Block(text[3:].strip(), number), False, 0
        elif block is None:
            if not outside:
                report(flaw("outside-document", place))
            outside = True
        elif text == "--" and not in_facts:
            in_facts = True
        else:
            (block.facts if in_facts else block.sentences).append(_Line(number, text))
    if block is not None:
        yield block


class _Reader:
    """Makes a Document of the lines of one; what cannot be read is told and left out."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._text = ""
        self._sentences: list[Sentence] = []
        self._marks: list[tuple[int, Mark]] = []  # line, and the mark in the whole text
        self._entities: dict[str, int] = {}  # key: entity
        self._stated: dict[tuple[int, int, str], tuple[int, Relation]] = {}  # with its line
        self._denied: dict[tuple[int, int, str], tuple[int, Relation]] = {}

    def document(self, block: _Block) -> Document | None:
        if not block.id or len(block.id.split()) > 1:
            expected = "an id without white space behind ==="
            self._findings.add("wrong-field", "", value=block.id, expected=expected)
        for line in block.sentences:
            self._read_sentence(line)
        if not self._sentences:
            self._findings.add("no-sentences", "")
        types = self._types()
        self._entities = {key: index for index, key in enumerate(types)}
        for line in block.facts:
            self._read_fact(line)
        document = self._made(block.id, types)
        lines = LoomLines(
            document=block.line,
            sentences=[line.number for line in block.sentences],
            relations=[line for line, _ in self._stated.values()],
            denied=[line for line, _ in self._denied.values()],
        )
        nobody = [(mark.start, mark.end) for _, mark in self._marks if mark.key == NOBODY]
        for broken in broken_rules(document, nobody, lines):
            self._findings.add_found(broken, broken.place.line)
        return closed(document) if self._findings.flawless else None

    def _made(self, identifier: str, types: dict[str, str]) -> Document:
        mentions: list[Mention] = []
        members: dict[str, list[int]] = {key: [] for key in types}
        for _, mark in self._marks:
            if mark.key != NOBODY:
                members[mark.key].append(len(mentions))
                mentions.append(_mention(self._text, mark, types[mark.key]))
        return Document(
            text=self._text,
            id=identifier,
            sentences=tuple(self._sentences),
            mentions=tuple(mentions),
            entities=tuple(
                Entity(tuple(members[key]), type, attributes={"key": key})
                for key, type in types.items()
            ),
            relations=tuple(relation for _, relation in self._stated.values()),
            denied=tuple(relation for _, relation in self._denied.values()),
            attributes={"genre": identifier.rpartition("-")[0]},
        )

    def _read_sentence(self, line: _Line) -> None:
        bare = line.text.lstrip("/") if line.text.startswith("/") else line.text
        breaks = min(len(line.text) - len(bare), 2)
        marked = read_marks(bare.strip())
        for code, values in marked.flaws:
            self._findings.add(code, "", line.number, **values)
        if not marked.text.strip() or _FACT.fullmatch(line.text):
            expected = "the text of a sentence, and facts behind a line --"
            self._findings.add("wrong-field", "", line.number, value=line.text, expected=expected)
        if self._sentences:
            together = "" if _CHINESE_END.search(self._text) else " "
            self._text += "\n" * breaks or together
        start = len(self._text)
        self._text += marked.text
        self._sentences.append(Sentence(start, len(self._text)))
        for mark in marked.marks:
            moved = Mark(start + mark.start, start + mark.end, mark.key, mark.type, mark.named)
            self._marks.append((line.number, moved))

    def _types(self) -> dict[str, str]:
        """The type of each key, in the order of the text; what is amiss with one is told."""
        types: dict[str, str] = {}
        named: set[str] = set()
        first: dict[str, int] = {}  # line
        for line, mark in self._marks:
            if mark.key == NOBODY:
                continue
            first.setdefault(mark.key, line)
            known = types.setdefault(mark.key, mark.type or _NO_TYPE)
            if known == _NO_TYPE and mark.type is not None:
                types[mark.key] = mark.type
            elif mark.type not in (None, known):
                values = {"key": mark.key, "one": known, "other": mark.type}
                self._findings.add("key-of-two-types", "", line, **values)
            if mark.named:
                named.add(mark.key)
        for key, type in types.items():
            if type == _NO_TYPE:
                code = "key-without-type" if key in named else "never-named"
                self._findings.add(code, "", first[key], key=key)
        return types

    def _read_fact(self, line: _Line) -> None:
        denied = line.text.startswith("not ")
        columns = [part.strip() for part in line.text.removeprefix("not ").split("|")]
        if len(columns) != (5 if denied else 4):
            expected = "head | relation | tail | sentences"
            if denied:
                expected = f"not {expected} | why"
            self._findings.add("wrong-field", "", line.number, value=line.text, expected=expected)
            return
        head, name, tail, numbers = columns[:4]
        if denied and columns[4] not in REASONS:
            values = {"value": columns[4], "expected": f"one of {', '.join(REASONS)}"}
            self._findings.add("wrong-field", "", line.number, **values)
        for role, key in (("head", head), ("tail", tail)):
            if key not in self._entities:
                values = {"role": role, "identifier": key}
                self._findings.add("unknown-identifier", "", line.number, **values)
        types = _RELATIONS.ids(name)
        if not types:
            near = _RELATIONS.near(name)
            self._findings.add("unknown-relation", "", line.number, relation=name, near=near)
        evidence = self._evidence(line, numbers)
        if types and head in self._entities and tail in self._entities:
            why = {"why": columns[4]} if denied else {}
            ends = self._entities[head], self._entities[tail]
            relation = Relation(*ends, types[0], evidence=evidence, attributes=why)
            self._add(line, relation, denied, f"{head} | {name} | {tail}")

    def _evidence(self, line: _Line, numbers: str) -> tuple[int, ...]:
        """The sentences of a fact, counted from 0."""
        given = re.split(r"[\s,]+", numbers)
        if not all(re.fullmatch("[0-9]{1,9}", number) for number in given):
            expected = "the numbers of sentences, with spaces between them"
            self._findings.add("wrong-field", "", line.number, value=numbers, expected=expected)
            return ()
        count = len(self._sentences)
        found = dict.fromkeys(int(number) for number in given)
        for number in found:
            if not 1 <= number <= count:
                values = {"sentence": number, "count": count}
                self._findings.add("no-such-line", "", line.number, **values)
        return tuple(number - 1 for number in found if 1 <= number <= count)

    def _add(self, line: _Line, relation: Relation, denied: bool, fact: str) -> None:
        triple = (relation.head, relation.tail, relation.type)
        known, other = (self._denied, self._stated) if denied else (self._stated, self._denied)
        if triple in other:
            head, name, tail = fact.split(" | ")
            values = {"type": name, "head": head, "tail": tail}
            self._findings.add("stated-and-denied", "", line.number, **values)
        elif triple in known:
            self._findings.add("repeated-fact", "", line.number, fact=fact)
        else:
            known[triple] = line.number, relation


def _mention(text: str, mark: Mark, type: str) -> Mention:
    if mark.named:
        return Mention(mark.start, mark.end, type)
    pronoun = is_pronoun(text[mark.start : mark.end])
    return Mention(mark.start, mark.end, type, kind="pronoun" if pronoun else "nominal")
