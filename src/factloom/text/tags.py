"""Tags a word, and the typed spans that they stand for.

    BIO     B-PER I-PER I-PER O     a span begins with B (IOB2)
    IOB1    I-PER I-PER I-PER O     B only where a span touches one of the same type in front
    BIOES   B-PER I-PER E-PER O     the last word is E, a single word S
    BMES    B-PER M-PER E-PER O     the same letters as most Chinese corpora have them
    BILOU   B-PER I-PER L-PER O     last and unit

Reading never fails on an illegal order of tags, it counts as conlleval and seqeval do: a span
begins at a B or S, and at any other tag that cannot continue what stands in front of it (nothing,
another type, or a span that has ended); it ends where the next one begins, or at an O.

    >>> spans_of(["I-PER", "I-PER", "I-LOC", "O"], "BIO")
    [TypedSpan(start=0, end=2, type='PER'), TypedSpan(start=2, end=3, type='LOC')]
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from factloom.errors import InputError

Scheme = Literal["BIO", "IOB1", "BIOES", "BMES", "BILOU"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)

OUTSIDE = "O"
UNKNOWN = -1  # in place of a tag's number: it may be any
UNKNOWN_TAG = "?"
UNKNOWN_TYPE = "?"  # of mentions whose words may be anything: a name of any type, or none

Booleans = NDArray[np.bool_]


class Position(Enum):
    """Where in a span a word stands."""

    OUTSIDE = "outside"
    BEGIN = "begin"
    INSIDE = "inside"
    END = "end"
    SINGLE = "single"


_BEGIN_INSIDE = {"B": Position.BEGIN, "I": Position.INSIDE}
_LETTERS: dict[Scheme, dict[str, Position]] = {
    "BIO": _BEGIN_INSIDE,
    "IOB1": _BEGIN_INSIDE,
    "BIOES": {**_BEGIN_INSIDE, "E": Position.END, "S": Position.SINGLE},
    "BMES": {
        "B": Position.BEGIN,
        "M": Position.INSIDE,
        "E": Position.END,
        "S": Position.SINGLE,
    },
    "BILOU": {**_BEGIN_INSIDE, "L": Position.END, "U": Position.SINGLE},
}
_MARKS_ENDS: frozenset[Scheme] = frozenset({"BIOES", "BMES", "BILOU"})
_FIRST = {Position.BEGIN, Position.SINGLE}
_LAST = {Position.END, Position.SINGLE}
_OPEN = {Position.BEGIN, Position.INSIDE}  # the span goes on, where ends are marked


@dataclass(frozen=True, slots=True, order=True)
class TypedSpan:
    """Half-open words of a sequence, and what they name."""

    start: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag taken apart; the type is empty outside of spans."""

    position: Position
    type: str


@dataclass(frozen=True, slots=True)
class Transitions:
    """What may stand where in a legal sequence of tags."""

    between: Booleans  # (tags, tags) from, to
    start: Booleans  # (tags,) may be the first
    end: Booleans  # (tags,) may be the last


def tag_names(types: Iterable[str], scheme: Scheme) -> list[str]:
    """All tags of a scheme, O first."""
    return [OUTSIDE, *(f"{letter}-{kind}" for kind in types for letter in _LETTERS[scheme])]


def tag_numbers(tags: Sequence[str]) -> dict[str, int]:
    """The number of each tag; `UNKNOWN` for the one that says nothing of a word."""
    return {UNKNOWN_TAG: UNKNOWN} | {tag: number for number, tag in enumerate(tags)}


def marks_ends(scheme: Scheme) -> bool:
    """Whether the tags of a span say where it ends, without a look at the word behind it."""
    return scheme in _MARKS_ENDS


def parse_tag(tag: str, scheme: Scheme) -> Tag:
    """Position and type; "O" has none, and a bare "B" has the type "_", as in seqeval."""
    if tag == OUTSIDE:
        return Tag(Position.OUTSIDE, "")
    letter, _, kind = tag.partition("-")
    if letter not in _LETTERS[scheme]:
        raise InputError("unknown-tag", tag=tag, scheme=scheme, letters=", ".join(_LETTERS[scheme]))
    return Tag(_LETTERS[scheme][letter], kind or "_")


def find_scheme(sequences: Iterable[Sequence[str]]) -> Scheme:
    """The scheme that tag sequences are written in, by their letters.

    Without B and I it is any, and BIO is as good as another.
    """
    letters: set[str] = set()
    begins, inside_begins, touching_begins = 0, 0, 0
    for tags in sequences:
        letters.update(tag.partition("-")[0] for tag in tags)
        for before, tag in pairwise([OUTSIDE, *tags]):
            letter, _, kind = tag.partition("-")
            continues = before != OUTSIDE and before.partition("-")[2] == kind
            begins += letter == "B"
            touching_begins += letter == "B" and continues
            inside_begins += letter == "I" and not continues
    if letters & {"L", "U"}:
        return "BILOU"
    if "M" in letters:
        return "BMES"
    if letters & {"E", "S"}:
        # without an inner word the two cannot be told apart, and need not be
        return "BIOES"
    return "IOB1" if inside_begins and begins == touching_begins else "BIO"


def spans_of(tags: Sequence[str], scheme: Scheme) -> list[TypedSpan]:
    """The spans of a tag sequence, counted as conlleval and seqeval do where it is illegal."""
    parsed = [parse_tag(tag, scheme) for tag in tags]
    outside = Tag(Position.OUTSIDE, "")
    found: list[TypedSpan] = []
    start = 0
    for index, (before, tag) in enumerate(pairwise([outside, *parsed, outside])):
        begins = tag.position is not Position.OUTSIDE and _begins(before, tag)
        if before.position is not Position.OUTSIDE and (begins or tag.position is Position.OUTSIDE):
            found.append(TypedSpan(start, index, before.type))
        if begins:
            start = index
    return found


def _begins(before: Tag, tag: Tag) -> bool:
    """Whether a tag of a span is its first, given the one in front of it."""
    return (
        tag.position in _FIRST
        or before.position in _LAST
        or before.position is Position.OUTSIDE
        or before.type != tag.type
    )


def tags_of(spans: Iterable[TypedSpan], length: int, scheme: Scheme) -> list[str]:
    """The tags of a sequence of `length` words; spans may not overlap."""
    letter = {position: name for name, position in _LETTERS[scheme].items()}
    tags = [OUTSIDE] * length
    last_end, last_type = 0, None
    for span in sorted(spans):
        if not last_end <= span.start < span.end <= length:
            raise InputError("span-not-flat", start=span.start, end=span.end, length=length)
        touches = span.start == last_end and span.type == last_type
        for index in range(span.start, span.end):
            position = _position(index, span, scheme, touches)
            tags[index] = f"{letter[position]}-{span.type}"
        last_end, last_type = span.end, span.type
    return tags


def _position(index: int, span: TypedSpan, scheme: Scheme, touches: bool) -> Position:
    """Where in its span a word stands, as far as the scheme says it."""
    first, last = index == span.start, index == span.end - 1
    if scheme in _MARKS_ENDS and last:
        return Position.SINGLE if first else Position.END
    if first and (scheme != "IOB1" or touches):
        return Position.BEGIN
    return Position.INSIDE


def without_overlap(spans: Iterable[TypedSpan]) -> list[TypedSpan]:
    """The outermost spans, in order: of those that overlap the longest, then the first, stays."""
    kept: list[TypedSpan] = []
    for span in sorted(spans, key=lambda span: (span.start - span.end, span)):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept)


def allowed_transitions(tags: Sequence[str], scheme: Scheme) -> Transitions:
    """Which tag may follow which, begin a sequence and end it."""
    parsed = [parse_tag(tag, scheme) for tag in tags]
    edge = Tag(Position.OUTSIDE, "")  # around a sequence as before and after a span
    return Transitions(
        between=np.array(
            [[_may_follow(before, tag, scheme) for tag in parsed] for before in parsed], bool
        ).reshape(len(parsed), len(parsed)),
        start=np.array([_may_follow(edge, tag, scheme) for tag in parsed], bool),
        end=np.array([_may_follow(tag, edge, scheme) for tag in parsed], bool),
    )


def _may_follow(before: Tag, tag: Tag, scheme: Scheme) -> bool:
    same_type = before.type == tag.type  # never so for O and a span
    if scheme == "IOB1":
        return tag.position is not Position.BEGIN or same_type
    if scheme == "BIO":
        return tag.position is not Position.INSIDE or same_type
    if before.position in _OPEN:
        return same_type and tag.position in {Position.INSIDE, Position.END}
    return tag.position is Position.OUTSIDE or tag.position in _FIRST
