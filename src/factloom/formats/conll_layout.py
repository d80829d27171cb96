"""Where words and tags stand in the lines of a CoNLL file: given by options, else found.

The beginning of a file tells its layout. Nine of ten lines have to agree, so that a broken line is
reported as one, instead of making the whole file unknown.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    ValidationError,
    model_validator,
)

from factloom.formats.options import Numbers, split_format
from factloom.text.tags import Scheme
from factloom.text.tokens import separator_of

DOCUMENT_START = "-DOCSTART-"
_MOST = 0.9
_SIGNS = {"tab": "\t", "space": " ", "comma": ","}
_RUNS = "spaces"
_OTHER_DELIMITERS = (",", ";", "|")
_LETTERS = frozenset("OBIEMSLU")
_TAG = re.compile(r"O|[BIEMSLU]-\S.*")
_POSITION = re.compile(r"(.)([0-9]+)", re.DOTALL)
# Phrases of CoNLL-2000 and its successors stand in columns of tags too, but are no names.
_PHRASES = frozenset(
    {"NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP"}
)


def _sign(delimiter: str) -> str:
    return _SIGNS.get(delimiter, delimiter)


class Options(BaseModel):
    """What may be said about a file where its content does not tell; columns count from 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    word: NonNegativeInt | None = None
    tag: Numbers | None = None
    delimiter: Annotated[str, Field(min_length=1), AfterValidator(_sign)] | None = None
    scheme: Scheme | None = None
    join: Literal["space", "none"] | None = None
    positions: bool | None = None

    @model_validator(mode="after")
    def _columns_differ(self) -> Self:
        columns = [*(self.tag or ()), *([] if self.word is None else [self.word])]
        if len(set(columns)) < len(columns) or min(columns, default=0) < 0:
            raise ValueError("word and tags need a column each, counted from 0")
        return self


@dataclass(frozen=True, slots=True)
class Layout:
    """How the lines of one file are read and written."""

    word: int = 0
    tags: tuple[int, ...] = (1,)
    delimiter: str = " "  # the sign itself, or "spaces": any number of spaces and tabs
    scheme: Scheme = "BIO"
    separator: str = " "  # between the words of the text
    positions: bool = False  # the word is a character and its place within a word: 吴0
    width: int = 2

    def split(self, line: str) -> list[str]:
        if self.delimiter == _RUNS:
            return re.split(r"[ \t]+", line.strip(" \t"))
        fields = line.split(self.delimiter)
        surplus = len(fields) - self.width
        if surplus > 0 and self.word == 0 and not any(fields[: surplus + 1]):
            # A word that consists of delimiters: the space of a character file.
            return [self.delimiter * surplus, *fields[surplus + 1 :]]
        return fields

    def join(self, fields: Sequence[str]) -> str:
        return (" " if self.delimiter == _RUNS else self.delimiter).join(fields)

    def holds(self, field: str) -> bool:
        """Whether a field comes back as it was."""
        if "\n" in field or "\r" in field:
            return False
        if self.delimiter == _RUNS:
            return field != "" and " " not in field and "\t" not in field
        return self.delimiter not in field

    def holds_word(self, field: str) -> bool:
        spaces = self.word == 0 and self.delimiter != _RUNS and not field.strip(self.delimiter)
        return (spaces or self.holds(field)) and field != DOCUMENT_START

    def starts_document(self, line: str) -> bool:
        if DOCUMENT_START not in line:
            return False
        fields = self.split(line)
        return DOCUMENT_START in (fields[0], *fields[self.word : self.word + 1])

    def is_comment(self, line: str) -> bool:
        """Whether a line in front of a sentence, beginning with #, is no word and tag."""
        if not line.startswith("#"):
            return False
        fields = self.split(line)
        tags = [fields[number][:1] for number in self.tags if number < len(fields)]
        return len(fields) != self.width or not all(tag in _LETTERS for tag in tags)

    @property
    def others(self) -> tuple[int, ...]:
        """The columns that hold neither words nor tags."""
        return tuple(n for n in range(self.width) if n != self.word and n not in self.tags)

    def __str__(self) -> str:
        tags = f"tag={'+'.join(map(str, self.tags))}," if self.tags else ""
        join = "space" if self.separator else "none"
        positions = "yes" if self.positions else "no"
        delimiter = next(
            (n for n, sign in _SIGNS.items() if sign == self.delimiter), self.delimiter
        )
        return (
            f"word={self.word},{tags}delimiter={delimiter},scheme={self.scheme},"
            f"join={join},positions={positions}"
        )


def kept_options(kept: object) -> Options:
    """The layout that a reader has left with a document; none if it is somebody else's."""
    _, given = split_format(f":{kept}")
    try:
        return Options.model_validate(given)
    except ValidationError:
        return Options()


class Kept(BaseModel):
    """What a file holds beyond words and names; lists of columns have one value a word."""

    layout: str = ""
    columns: dict[str, list[str]] = Field(default_factory=dict)
    tags: dict[str, list[str]] = Field(default_factory=dict)  # where they are illegal
    positions: list[str] = Field(default_factory=list)
    start: list[str] = Field(default_factory=list)  # the lines of -DOCSTART-
    before: dict[str, list[str]] = Field(default_factory=dict)  # comments, by sentence
    behind: list[str] | None = None  # the last lines of the file, if not one blank line


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    lines = _lines(head)
    if len(lines) < 2:  # a line such as "Vitamin B-12" is prose
        return False
    return _has_tags(lines, _find_delimiter(lines))


def find_layout(head: str, options: Options) -> Layout:
    """The layout of the file that begins with `head`; its scheme is still that of the options."""
    lines = _lines(head)
    delimiter = options.delimiter or _find_delimiter(lines)
    rows = _rows(lines, delimiter)
    width = len(rows[0]) if rows else 2
    tags = tuple(n for n in _tag_columns(rows) if n != options.word)
    word = _word_column(rows, tags) if options.word is None else options.word
    tags = tags or ((width - 1,) if width > 1 and word != width - 1 else ())
    words = [row[word] for row in rows if word < width]
    positions = _have_positions(words) if options.positions is None else options.positions
    characters = [word[:1] for word in words] if positions else words
    separator = separator_of(characters)
    if options.join is not None:
        separator = " " if options.join == "space" else ""
    tags = tags if options.tag is None else options.tag
    return Layout(
        word=word,
        tags=tags,
        delimiter=delimiter,
        scheme=options.scheme or "BIO",
        separator=separator,
        positions=positions,
        width=max(width, *(column + 1 for column in (word, *tags))),
    )


def layout_to_write(kept: Options, given: Options, others: Iterable[int]) -> Layout:
    """What the caller says, else what the source had, else a word, a space and a BIO tag."""
    said = {**kept.model_dump(exclude_none=True), **given.model_dump(exclude_none=True)}
    word, tags = said.get("word", 0), said.get("tag", (1,))
    return Layout(
        word=word,
        tags=tags,
        delimiter=said.get("delimiter", " "),
        scheme=said.get("scheme", "BIO"),
        positions=said.get("positions", False),
        width=max(word, *tags, *others) + 1,
    )


def usual_end(sentences: Sequence[object]) -> list[str]:
    """How the lines of a file end: those of -DOCSTART- bring their blank line with them."""
    return [""] if sentences else []


def is_tag(field: str) -> bool:
    return _TAG.fullmatch(field) is not None


def character_and_position(word: str) -> tuple[str, str]:
    """A character and its place within a word, as in 吴0; without a digit the place is empty."""
    match = _POSITION.fullmatch(word)
    return (match[1], match[2]) if match else (word, "")


def _lines(head: str) -> list[str]:
    """The whole lines that hold words, as far as can be told without knowing the layout."""
    lines = head.split("\n")
    if len(lines) > 1:
        lines.pop()  # empty, or cut off
    kept = [line.removesuffix("\r") for line in lines if line.strip()]
    kept = [line for line in kept if DOCUMENT_START not in line]
    return [line for line in kept if not line.startswith("#")] or kept


def _find_delimiter(lines: Sequence[str]) -> str:
    """White space; another sign only where that cuts nothing, and the sign sets tags apart."""
    found = _find_white_space(lines)
    rows = _rows(lines, found)
    if rows and len(rows[0]) > 1:
        return found
    return next((sign for sign in _OTHER_DELIMITERS if _has_tags(lines, sign)), found)


def _find_white_space(lines: Sequence[str]) -> str:
    if sum("\t" in line for line in lines) >= _MOST * len(lines):
        return "\t"
    # A line that begins with a space is one whose word is a space, or got lost.
    usual = [line for line in lines if not line.startswith(" ")]
    widths = Counter(line.count(" ") for line in usual)
    if not usual or widths.most_common(1)[0][1] >= _MOST * len(usual):
        return " "
    return _RUNS


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The lines cut into columns, those alone that have as many as most."""
    rough = Layout(delimiter=delimiter, width=10**6)
    widths = Counter(len(rough.split(line)) for line in lines).most_common(1)
    layout = Layout(delimiter=delimiter, width=widths[0][0] if widths else 2)
    rows = [layout.split(line) for line in lines]
    return [row for row in rows if len(row) == layout.width]


def _has_tags(lines: Sequence[str], delimiter: str) -> bool:
    rows = _rows(lines, delimiter)
    fitting = len(rows) >= _MOST * len(lines)
    return bool(rows) and fitting and len(rows[0]) > 1 and bool(_tag_columns(rows))


def _tag_columns(rows: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """The columns of names; those of phrases only if there are no others.

    A column of nothing but O behind one of names is a level without any so far. In front of it, it
    fills the place of the phrases, and is none.
    """
    columns = list(zip(*rows, strict=True))
    tagged = [
        number
        for number, column in enumerate(columns)
        if sum(map(is_tag, column)) >= _MOST * len(column)
    ]
    types = {number: {tag[2:] for tag in columns[number]} - {""} for number in tagged}
    names = [number for number in tagged if not types[number] or types[number] - _PHRASES]
    first = next((number for number in names if types[number]), 0)
    return tuple(number for number in names if number >= first) or tuple(tagged)


def _word_column(rows: Sequence[Sequence[str]], tags: Sequence[int]) -> int:
    """The first column that holds neither tags nor the numbers of the words."""
    columns = list(zip(*rows, strict=True))
    numbers = [n for n, column in enumerate(columns) if all(v.isdecimal() for v in column)]
    others = [n for n in range(len(columns)) if n not in tags]
    return next((n for n in others if n not in numbers), others[0] if others else 0)


def _have_positions(words: Sequence[str]) -> bool:
    parts = [character_and_position(word) for word in words]
    return (
        bool(parts)
        and all(place for _, place in parts)
        and not separator_of(character for character, _ in parts)
    )
