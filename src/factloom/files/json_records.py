"""JSON records one by one: the elements of one big array, or one object a line.

Stricter than the standard library where JSON is: no NaN, no infinity, no half surrogate pairs.
"""

import json
import math
import re
import reprlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from factloom.errors import DocumentError, InputError, Place, flaw
from factloom.files import source as limits
from factloom.files.report import Findings, Report
from factloom.files.source import Source

Schema = TypeVar("Schema")

_WHITE_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_MARK = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
_LONGEST_LITERAL = len("-Infinity")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite_number(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {digits} is too large")
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite_number)


def records(source: Source, report: Report) -> Iterator[tuple[Place, object]]:
    """The records of a file that holds either one array or one object a line."""
    if source.head().lstrip().startswith("["):
        yield from array_records(source)
    else:
        yield from line_records(source, report)


@lru_cache(maxsize=1)
def first_records(head: str) -> list[Any]:
    """The records that a file begins with; of the first one as much as the head holds."""
    found: list[Any] = []
    position = len(head) - len(head.lstrip(" \t\r\n["))
    try:
        while position < len(head):
            value, position = _DECODER.raw_decode(head, position)
            found.append(value)
            position = len(head) - len(head[position:].lstrip(" \t\r\n,"))
        return found
    except (ValueError, RecursionError):
        return found or _cut_record(head[position:])


def _cut_record(text: str) -> list[Any]:
    """A record that is cut off, with everything closed that is open at its last whole value."""
    marks = [match for match in _MARK.finditer(text) if match[0] in ("{", "[", "}", "]", ",")]
    while marks and marks[-1][0] in ("}", "]"):
        marks.pop()
    closing: list[str] = []
    for mark in marks:
        if mark[0] in "{[":
            closing.append("}" if mark[0] == "{" else "]")
        elif mark[0] in "}]" and closing:
            closing.pop()
    end = len(text[: marks[-1].end()].removesuffix(",")) if marks else 0
    try:
        return [_DECODER.decode(text[:end] + "".join(reversed(closing)))]
    except (ValueError, RecursionError):
        return []


def line_records(source: Source, report: Report) -> Iterator[tuple[Place, object]]:
    """One JSON value a line; a line that is not JSON is reported and skipped."""
    for number, line in source.lines(report):
        if not line.strip():
            continue
        place = Place(file=str(source.path), line=number)
        try:
            value, end = _decode(line, len(line) - len(line.lstrip()))
        except json.JSONDecodeError as error:
            detail = f"{error.msg} at character {error.pos + 1}"
            report(flaw("not-json", place, detail=detail))
        except (ValueError, RecursionError) as error:
            report(flaw("not-json", place, detail=reason(error)))
        else:
            if line[end:].strip():
                detail = f"more text after the value, at character {end + 1}"
                report(flaw("not-json", place, detail=detail))
                continue
            yield place, value


def array_records(source: Source) -> Iterator[tuple[Place, object]]:
    """The elements of one JSON array, decoded one by one, never the whole file at once."""
    stream = _Stream(source)
    stream.expect("[", "the file should hold a list")
    yield from _elements(stream)
    if stream.next_character():
        stream.fail("there is more text after the end of the list")


def member_records(source: Source, name: str) -> Iterator[tuple[Place, object]]:
    """The elements of the array that one JSON object has as `name`, decoded one by one too.

    What else the object has is about the file as a whole, and left out.
    """
    stream = _Stream(source)
    stream.expect("{", "the file should hold an object")
    found = False
    while stream.next_character() != "}":
        key = stream.value()
        if not isinstance(key, str):
            stream.fail("the names of an object are texts")
        stream.expect(":", "after a name comes ':'")
        if key == name:
            found = True
            stream.expect("[", f"there should be a list as {name!r}")
            yield from _elements(stream)
        else:
            stream.value()
        if stream.next_character() != "}":
            stream.expect(",", "after a value comes ',' or '}'")
            if stream.next_character() == "}":
                stream.fail("after ',' comes another value")
    stream.take()
    if stream.next_character():
        stream.fail("there is more text after the end of the object")
    if not found:
        raise InputError("missing-key", source.place, key=name)


def listed_records(source: Source) -> Iterator[tuple[str, Place, object]]:
    """The elements of all arrays of one JSON object, each with the name of its array."""
    stream = _Stream(source)
    stream.expect("{", "the file should hold an object")
    while stream.next_character() != "}":
        key = stream.value()
        if not isinstance(key, str):
            stream.fail("the names of an object are texts")
        stream.expect(":", "after a name comes ':'")
        stream.expect("[", f"there should be a list as {key!r}")
        for place, value in _elements(stream):
            yield key, place, value
        if stream.next_character() != "}":
            stream.expect(",", "after a list comes ',' or '}'")
            if stream.next_character() == "}":
                stream.fail("after ',' comes another list")
    stream.take()
    if stream.next_character():
        stream.fail("there is more text after the end of the object")


def _elements(stream: "_Stream") -> Iterator[tuple[Place, object]]:
    """The elements of an array, behind its opening bracket; takes the closing one too."""
    if stream.next_character() == "]":
        stream.take()
        return
    while True:
        value = stream.value()
        yield stream.place, value
        stream.number += 1
        if stream.next_character() == "]":
            stream.take()
            return
        stream.expect(",", "after a record comes ',' or ']'")
        stream.next_character()


class _Stream:
    """A window over the characters of a file that grows until it holds the next JSON value."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._pieces = source.pieces()
        self._text = ""
        self._position = 0
        self._before = 0  # characters that left the window already
        self.number = 0

    @property
    def place(self) -> Place:
        return Place(file=str(self._source.path), part=f"record {self.number}")

    def next_character(self) -> str:
        """The next character that is not white space, '' at the end of the file."""
        while True:
            match = _WHITE_SPACE.match(self._text, self._position)
            self._position = match.end() if match else self._position
            if self._position < len(self._text):
                return self._text[self._position]
            if not self._grow():
                return ""

    def take(self) -> None:
        self._position += 1

    def expect(self, character: str, otherwise: str) -> None:
        if self.next_character() != character:
            self.fail(otherwise)
        self.take()

    def value(self) -> object:
        """Decode the value at the position; the window grows while the value is cut off."""
        self.next_character()
        while True:
            try:
                value, end = _decode(self._text, self._position)
            except json.JSONDecodeError as error:
                behind = error.pos - self._position  # growing moves the window
                if self._is_malformed(error) or not self._grow():
                    self.fail(error.msg, behind)
            except (ValueError, RecursionError) as error:
                self.fail(reason(error))
            else:
                whole = end < len(self._text) or isinstance(value, dict | list)
                if whole or not self._grow():  # a number at the edge may go on
                    self._position = end
                    return value

    def fail(self, detail: str, behind: int = 0) -> NoReturn:
        """Raise an error at so many characters behind the position."""
        offset = self._before + self._position + behind
        detail = f"{detail}, at character {offset + 1} of the file"
        raise InputError("not-json", self.place, detail=detail)

    def _is_malformed(self, error: json.JSONDecodeError) -> bool:
        # A cut-off value fails near the window's end; only an open string fails at its start.
        near_end = error.pos + _LONGEST_LITERAL > len(self._text)
        return not near_end and not error.msg.startswith("Unterminated string")

    def _grow(self) -> bool:
        rest = self._text[self._position :]
        if len(rest) > limits.MAXIMUM_RECORD:
            raise InputError("record-too-long", self.place, limit=limits.MAXIMUM_RECORD)
        self._before += self._position
        parts, wanted = [rest], max(len(rest), 1)  # doubling keeps the work linear
        while wanted > 0 and (piece := next(self._pieces, None)) is not None:
            parts.append(piece)
            wanted -= len(piece)
        self._text, self._position = "".join(parts), 0
        return len(self._text) > len(rest)


def _decode(text: str, position: int) -> tuple[Any, int]:
    value, end = _DECODER.raw_decode(text, position)
    if _SURROGATE_ESCAPE.search(text, position, end):
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("an escape such as \\ud83d is only half a character") from None
    return value, end


def reason(error: Exception) -> str:
    """Why something is not taken for JSON, in words for people."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if str(error).startswith("Exceeds the limit"):  # Python's words, about settings of its own
        return f"a number has more than {sys.get_int_max_str_digits():,} digits"
    return str(error)


def encode(value: object, document: str) -> str:
    """One line of JSON; `document` names the place if the value has no JSON form."""
    try:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False)
        line.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise DocumentError(
            "no-json-form", Place(document=document), detail=reason(error)
        ) from None
    return line


def array_pieces(values: Iterable[tuple[str, object]]) -> Iterator[str]:
    """The pieces of one array, a value a line; each comes with the name of its document."""
    separator = "[\n"
    for document, value in values:
        yield separator + encode(value, document)
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def conforming(
    schema: TypeAdapter[Schema], record: object, findings: Findings, part: str = ""
) -> Schema | None:
    """The record if its keys and types are those of the schema; else its flaws are added.

    `part` is the path to it, where it lies within a larger record.
    """
    try:
        return schema.validate_python(record)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False):
            _add_schema_flaw(problem, findings, part)
        return None


def _add_schema_flaw(problem: Mapping[str, Any], findings: Findings, part: str) -> None:
    *parents, last = problem["loc"] or ("",)
    above = part_name([part, *parents] if part else parents)
    if problem["type"] == "missing":
        findings.add("missing-key", above, key=last)
    elif problem["type"] == "extra_forbidden":
        findings.add("unknown-key", above, key=last)
    else:
        detail = problem["msg"].removeprefix("Input should be ")
        value = reprlib.repr(problem["input"])
        here = part_name([part, *problem["loc"]] if part else problem["loc"])
        findings.add("wrong-type", here, detail=detail, value=value)


def part_name(steps: Any) -> str:
    """A path into a record, such as `labels[2].evidence`."""
    name = ""
    for step in steps:
        name += f"[{step}]" if isinstance(step, int) else f".{step}"
    return name.removeprefix(".")
