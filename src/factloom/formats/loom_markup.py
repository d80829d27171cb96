r"""The marks in a line of text: `[Ada Brook|PER ada]`, `[Ada|ada]`, `{she|ada}`, `[Brook|-]`.

A sign that belongs to the text itself stands behind a backslash: `\[`.
"""

import re
from dataclasses import dataclass, field

TYPES = ("PER", "LOC", "ORG", "TIME", "NUM", "MISC")
NOBODY = "-"  # the key of what looks like a mention of somebody, and is none

_PIECE = re.compile(r"\\([\[\]{}|\\/#=-])|([\[{])|([\]}])|(\|)|([^\\\[\]{}|]+|\\)")
_CLOSING = {"[": "]", "{": "}"}
_SPECIFICATION = re.compile(rf"(?:({'|'.join(TYPES)}) )?([a-z0-9_]+)")
_SHAPES = "[text|TYPE key], [text|key], {text|key}, or with the key - where it is nobody"


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a line that stands for the thing with this key; `named` in square brackets."""

    start: int
    end: int
    key: str
    type: str | None
    named: bool


@dataclass(slots=True)
class MarkedLine:
    """A line without its marks, the marks, and what is wrong: codes of errors with their values."""

    text: str = ""
    marks: list[Mark] = field(default_factory=list)
    flaws: list[tuple[str, dict[str, str]]] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """A mark whose end has not been met."""

    bracket: str
    start: int
    specification: str | None = None  # what stands behind the bar


def read_marks(line: str) -> MarkedLine:
    """Take the marks out of a line.

    >>> read_marks("{She|ada} met [Brook|PER brook].").text
    'She met Brook.'
    """
    found = MarkedLine()
    mark: _Open | None = None
    for piece in _PIECE.finditer(line):
        escaped, opening, closing, bar, plain = piece.groups()
        if opening and mark is None:
            mark = _Open(opening, len(found.text))
        elif closing and mark is not None and _CLOSING[mark.bracket] == closing:
            _close(found, mark)
            mark = None
        elif opening or closing:
            found.flaws.append(("unbalanced-bracket", {"bracket": opening or closing}))
        elif bar and mark is not None and mark.specification is None:
            mark.specification = ""
        elif mark is not None and mark.specification is not None:
            mark.specification += escaped or bar or plain
        else:
            found.text += escaped or bar or plain
    if mark is not None:
        found.flaws.append(("unbalanced-bracket", {"bracket": mark.bracket}))
    return found


def _close(found: MarkedLine, mark: _Open) -> None:
    text = found.text[mark.start :]
    named = mark.bracket == "["
    given = mark.specification or ""
    parts = _SPECIFICATION.fullmatch(given)
    sound = given == NOBODY or (parts is not None and (named or parts[1] is None))
    if not sound or not text or text != text.strip():
        shown = f"{mark.bracket}{text}|{given}{_CLOSING[mark.bracket]}"
        found.flaws.append(("wrong-field", {"value": shown, "expected": _SHAPES}))
        return
    key, type = (parts[2], parts[1]) if parts is not None else (NOBODY, None)
    found.marks.append(Mark(mark.start, len(found.text), key, type, named))
