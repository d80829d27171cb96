"""Texts of any size for those who only read them: long plain texts come in parts.

A file of plain text is one document to everybody else, and held as a whole. Here it is read about
a quarter of a megabyte at a time, so that a file may be larger than the memory:

    >>> for part in text_parts(["books.txt.gz", "notes/"]):  # doctest: +SKIP
    ...     print(part.begins, len(part.document.text))

Other formats give their documents as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from factloom.document import Document
from factloom.errors import FactloomError, InputError, Place
from factloom.files.source import Source
from factloom.formats import registry
from factloom.formats.gathering import (
    FoundFile,
    Skipped,
    documents_of,
    format_of,
    found_files,
    problem_of,
    require_there,
)
from factloom.text.sentences import find_sentences

Division = Literal["file", "paragraph", "line"]  # what a document of a plain text is

_PART = 2**18  # characters of a part, where a document has more than twice as many
_BORDERS: dict[Division, str] = {"file": "", "paragraph": "\n\n", "line": "\n"}


@dataclass(frozen=True, slots=True)
class TextPart:
    """A document, or a part of one that is too long to be held."""

    document: Document
    begins: bool = True  # a new document; else it goes on with the one in front


def text_parts(
    paths: Sequence[str],
    skipped: Skipped,
    format: str | None = None,
    division: Division = "file",
) -> Iterator[TextPart]:
    """All texts of files and folders; what cannot be read is handed to `skipped`."""
    require_there(paths)
    if format is not None:
        registry.reader_of(format, Place())
    for file in found_files(paths, (), skipped):
        try:
            yield from _parts_of(file, format, division, skipped)
        except FactloomError as error:
            skipped(problem_of(error, file))


def _parts_of(
    file: FoundFile, format: str | None, division: Division, skipped: Skipped
) -> Iterator[TextPart]:
    source = Source(file.path)
    name = format or format_of(source)
    if name != "text":
        for document in documents_of(file, name, False, skipped):
            yield TextPart(document)
        return
    identifier = file.identifier or source.name
    empty = True
    for text, begins in _pieces(source, _BORDERS[division]):
        if text.strip():
            empty = False
            yield TextPart(Document(text, identifier, find_sentences(text)), begins)
    if empty:
        raise InputError("no-document", source.place)


def _pieces(source: Source, border: str) -> Iterator[tuple[str, bool]]:
    """Texts of some length, and whether each begins a document."""
    begins, rest = True, ""
    for piece in source.pieces():
        rest = (rest + piece).replace("\r\n", "\n")
        if border:
            *whole, rest = rest.split(border)
            for text in whole:
                yield text, begins
                begins = True
        while len(rest) > 2 * _PART:
            end = _between_words(rest)
            yield rest[:end], begins
            begins, rest = False, rest[end:]
    yield rest, begins


def _between_words(text: str) -> int:
    """Where to cut a long text: behind a line if there is one, else behind a word."""
    ends = (text.rfind(sign, 1, _PART) for sign in "\n ")
    return next((end for end in ends if end > 0), _PART)
