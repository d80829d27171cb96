"""Plain text: a file is one document, its id the name of the file; sentences are found by rule."""

import re
from collections.abc import Iterable, Iterator

from factloom.document import Document
from factloom.errors import InputError
from factloom.files import source as limits
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.text.sentences import find_sentences

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be prose rather than data."""
    first_line = head.lstrip().partition("\n")[0]
    data = first_line.startswith(("{", "[")) or "\t" in first_line
    return not data and _CONTROL.search(head) is None


def read(source: Source, report: Report) -> Iterator[Document]:
    text = whole_text(source)
    document = Findings(source.place, report).document(
        text=text,
        id=source.path.name.removesuffix(".gz").removesuffix(".txt"),
        sentences=find_sentences(text),
    )
    if document is not None:
        yield document


def whole_text(source: Source) -> str:
    """The text of a file to the character, if it is not too long to be held."""
    pieces: list[str] = []
    length = 0
    for piece in source.pieces():
        pieces.append(piece)
        length += len(piece)
        if length > limits.MAXIMUM_RECORD:
            raise InputError("record-too-long", source.place, limit=limits.MAXIMUM_RECORD)
    return "".join(pieces)


def write(documents: Iterable[Document]) -> Iterator[str]:
    """The bare text of the only document."""
    for number, document in enumerate(documents):
        if number > 0:
            raise InputError("one-document-only")
        yield document.text
