"""The readable text of a page as blocks: headings, paragraphs, list items, rows of tables.

The readers of Markdown, HTML and PDF find the blocks. Here they become one text, whose sentences
never go from one block into the next.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from factloom.document import Document
from factloom.errors import InputError
from factloom.files.report import Findings, Report
from factloom.files.source import Source, readable
from factloom.text.sentences import find_sentences

CELL_SEPARATOR = " | "


class Block(NamedTuple):
    """A stretch of text; a list item or a row stands close to the one in front of it."""

    text: str
    close: bool = False


def read_blocks(blocks: Iterable[Block], source: Source, report: Report) -> Iterator[Document]:
    """The document that a file of these blocks is; its id is the name of the file."""
    text, starts = lay_out(blocks)
    if not text:
        raise InputError("no-readable-text", source.place)
    document = Findings(source.place, report).document(
        text=text,
        id=readable(source.path.name.removesuffix(".gz")),
        sentences=find_sentences(text, breaks=starts),
    )
    if document is not None:
        yield document


def lay_out(blocks: Iterable[Block]) -> tuple[str, list[int]]:
    """The text of all blocks that are not blank, and where in it each of them begins."""
    pieces: list[str] = []
    starts: list[int] = []
    length = 0
    last_close = False
    for text, close in blocks:
        stripped = text.strip()
        if not stripped:
            continue
        gap = "" if not pieces else "\n" if close and last_close else "\n\n"
        pieces += (gap, stripped)
        starts.append(length + len(gap))
        length += len(gap) + len(stripped)
        last_close = close
    return "".join(pieces), starts
