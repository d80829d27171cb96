"""Opening an input file: gzip, encoding, and limits, with one clear error for each way to fail.

A file is never read as a whole: `lines` gives one line at a time, `pieces` one megabyte, and
no line may be longer than `MAXIMUM_RECORD`.
"""

import codecs
import gzip
import io
import itertools
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from factloom.errors import InputError, Place, flaw
from factloom.files.report import Report

MAXIMUM_RECORD = 64 * 2**20  # bytes of a line, characters of a JSON record or a plain text
_PIECE = 2**20
_HEAD = 2**16
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OTHER_MARKS = {  # that of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One input file, plain or gzipped (told by its first bytes, not by its name)."""

    path: Path

    @property
    def place(self) -> Place:
        return Place(file=str(self.path))

    @property
    def name(self) -> str:
        """The name of the file without its suffix, from which documents without id get one."""
        return readable(Path(self.path.name.removesuffix(".gz")).stem)

    def head(self) -> str:
        """The beginning of the file, for guessing its format; broken characters are replaced."""
        with self._open() as stream:
            start = stream.read(_HEAD)
        if not start.strip():
            raise InputError("empty-file", self.place)
        self._check_mark(start)
        return start.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", errors="replace")

    def content(self) -> bytes:
        """The bytes of a file that is not text, if they are not too many to be held."""
        with self._open() as stream:
            content = stream.read(MAXIMUM_RECORD + 1)
        if len(content) > MAXIMUM_RECORD:
            raise InputError("record-too-long", self.place, limit=MAXIMUM_RECORD)
        if not content.strip():
            raise InputError("empty-file", self.place)
        return content

    def lines(self, report: Report) -> Iterator[tuple[int, str]]:
        """Number (from 1) and text of each line; a line that cannot be read is reported."""
        empty = True
        with self._open() as stream:
            for number in itertools.count(1):
                line = stream.readline(MAXIMUM_RECORD + 1)
                if not line:
                    break
                empty = empty and not line.strip()
                if len(line) > MAXIMUM_RECORD:
                    place = Place(file=str(self.path), line=number)
                    report(flaw("record-too-long", place, limit=MAXIMUM_RECORD))
                    _skip_to_line_end(stream, line)
                    continue
                if number == 1:
                    self._check_mark(line)
                    line = line.removeprefix(_BYTE_ORDER_MARK)
                try:
                    text, _ = self._decode(line, number, final=True)
                except InputError as error:
                    report(error.flaw)
                    continue
                yield number, text.removesuffix("\n").removesuffix("\r")
        if empty:
            raise InputError("empty-file", self.place)

    def pieces(self) -> Iterator[str]:
        """The text of the file, about a megabyte at a time."""
        empty = True
        line = 1
        unfinished = b""  # the first bytes of a character that goes on in the next piece
        with self._open() as stream:
            for number, piece in enumerate(iter(partial(stream.read, _PIECE), b"")):
                if number == 0:
                    self._check_mark(piece)
                text, unfinished = self._decode(unfinished + piece, line, final=False)
                if empty:
                    text = text.removeprefix("\ufeff")
                    empty = not text.strip()
                line += text.count("\n")
                yield text
        if unfinished:
            raise InputError("cut-encoding", Place(file=str(self.path), line=line))
        if empty:
            raise InputError("empty-file", self.place)

    def _check_mark(self, start: bytes) -> None:
        """Raise an error where the file begins with the mark of another Unicode encoding."""
        for mark, encoding in _OTHER_MARKS.items():
            if start.startswith(mark):
                raise InputError("other-unicode", self.place, encoding=encoding)

    def _decode(self, content: bytes, line: int, final: bool) -> tuple[str, bytes]:
        """The text, and what is left of a last character if more is to come (not `final`)."""
        nul = content.find(b"\0")
        if nul >= 0:
            raise self._bad_byte("nul-byte", content, nul, line)
        try:
            text, length = codecs.utf_8_decode(content, "strict", final)
        except UnicodeDecodeError as error:
            raise self._bad_byte("wrong-encoding", content, error.start, line) from None
        return text, content[length:]

    def _bad_byte(self, code: str, content: bytes, position: int, line: int) -> InputError:
        line += content.count(b"\n", 0, position)
        column = position - content.rfind(b"\n", 0, position)  # bytes are counted from 1
        place = Place(file=str(self.path), line=line, part=f"byte {column}")
        return InputError(code, place, byte=f"0x{content[position]:02x}")

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        try:
            with self.path.open("rb") as raw:
                zipped = raw.peek(len(_GZIP_MAGIC))[: len(_GZIP_MAGIC)] == _GZIP_MAGIC
                if not zipped:
                    yield raw
                else:
                    with gzip.GzipFile(fileobj=raw) as stream:
                        yield io.BufferedReader(stream, _PIECE)
        except FileNotFoundError:
            raise InputError("file-missing", self.place) from None
        except IsADirectoryError:
            raise InputError("file-is-directory", self.place) from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError("broken-gzip", self.place, detail=error) from None
        except OSError as error:
            detail = error.strerror or error
            raise InputError("file-unreadable", self.place, detail=detail) from None


def readable(name: str) -> str:
    r"""The name of a file as text; bytes that are not UTF-8 are written out: `caf\xe9.txt`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _skip_to_line_end(stream: BinaryIO, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = stream.readline(_PIECE)
