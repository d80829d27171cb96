"""PDF: the text of all pages, with what printing has done to it undone.

A PDF file knows glyphs and places, neither words nor paragraphs. Lines are put together again
where they were merely broken, words that were hyphenated at the end of a line are mended, and page
numbers and the lines that stand above or below several pages are left out.

A few bytes of a PDF file can stand for any amount of text: streams are compressed, and forms may
call forms. So what is drawn, and the text of it, is limited by the size of the file.

ISO 32000-2; the glyphs are put into lines by pypdf: https://pypdf.readthedocs.io
"""

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from factloom.document import Document
from factloom.errors import InputError
from factloom.files import source as limits
from factloom.files.report import Report
from factloom.files.source import Source
from factloom.formats.page_blocks import Block, read_blocks

_BEGINNING = "%PDF-"  # Adobe's readers look for it further on, but prose may speak of it there
_UNPRINTED = re.compile("[\x00-\x08\x0e-\x1f\x7f\u200b\ufeff\ud800-\udfff]")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)
_PAGE_NUMBER = re.compile(
    r"[-–—\s]*(?:page|seite|第)?\s*\d{1,4}(?:\s*(?:/|of)\s*\d+)?[-–—\s页]*", re.I
)
_FEWEST_PAGES = 3  # that have the same line above or below, to call it their header
_ITEM = re.compile(r"[•·▪◦‣●○■–—*-]\s+|\(?\d{1,3}[.)]\s+\S|\(?[a-z]\)\s")
_BULLET = re.compile(r"[•·▪◦‣●○■]\s*|[–—*-]\s+")
_SENTENCE_END = re.compile(r"[.!?…。！？:：][\"'”’»)\]」』）]*$")
_GOES_ON = re.compile(r"[,，、;(\[–—-]$|\b(?:a|an|and|as|at|by|for|from|in|of|on|or|the|to|with)$")
_HYPHENATED = re.compile(r"(\w+)-$")
_FIRST_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(
    "[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
)  # Chinese, Japanese
_DRAWN_AT_LEAST, _DRAWN_A_BYTE = 20_000, 8  # operations: real files have less than one a byte
_TEXT_AT_LEAST, _TEXT_A_BYTE = 50_000, 16  # characters: text is compressed to a fourth or so
_FULL = 0.75  # of the usual length of a line: shorter ones end a paragraph


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return head.lstrip().startswith(_BEGINNING)


def read(source: Source, report: Report) -> Iterator[Document]:
    pages = _pages(source)
    if not any(pages):
        raise InputError("scanned-pdf", source.place, pages=len(pages))
    yield from read_blocks(_paragraphs(pages), source, report)


def _pages(source: Source) -> list[list[str]]:
    """The lines of each page."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import DependencyError, FileNotDecryptedError
    except ImportError:
        missing = {"kind": "PDF", "library": "pypdf"}
        raise InputError("page-library-missing", source.place, **missing) from None
    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of whatever it mends
    content = source.content()
    drawing = _Drawing(len(content))
    pages: list[list[str]] = []
    try:
        for page in PdfReader(io.BytesIO(content)).pages:
            text = page.extract_text(visitor_operand_before=drawing.count_operation)
            drawing.count_text(text)
            pages.append(_lines(text))
    except _TooMuchError:
        raise InputError("expanding-pdf", source.place, size=len(content)) from None
    except (DependencyError, FileNotDecryptedError):
        raise InputError("encrypted-pdf", source.place) from None
    except Exception as error:  # a damaged file makes pypdf fail in any way that Python knows
        if type(error).__name__ == "LimitReachedError":  # pypdf's own, about single streams
            raise InputError("expanding-pdf", source.place, size=len(content)) from None
        detail = str(error) or type(error).__name__
        raise InputError("broken-pdf", source.place, detail=detail) from None
    return pages


class _TooMuchError(Exception):
    """More is drawn than a file of this size can be meant to hold."""


class _Drawing:
    """Counts what is drawn on all pages, and stops it where it is too much."""

    def __init__(self, size: int) -> None:
        self._operations = _DRAWN_AT_LEAST + _DRAWN_A_BYTE * size
        self._characters = min(_TEXT_AT_LEAST + _TEXT_A_BYTE * size, limits.MAXIMUM_RECORD)

    def count_operation(self, *_: object) -> None:
        self._operations -= 1
        if self._operations < 0:
            raise _TooMuchError

    def count_text(self, text: str) -> None:
        self._characters -= len(text)
        if self._characters < 0 or self._operations < 0:  # pypdf goes on behind errors in a form
            raise _TooMuchError


def _lines(text: str) -> list[str]:
    text = _UNPRINTED.sub("", text.translate(_LIGATURES))
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [re.sub("\u00ad(?=.)", "", line) for line in lines if line]


def _paragraphs(pages: Sequence[Sequence[str]]) -> Iterator[Block]:
    lines = list(_without_margins(pages))
    usual = _usual_length(lines)
    words = Counter(word for line in lines for word in re.findall(r"\w+(?:-\w+)*", line.lower()))
    paragraph: list[str] = []
    for line, behind in zip(lines, [*lines[1:], ""], strict=True):
        paragraph.append(line)
        if not behind or _ends_block(line, behind, usual):
            text = _joined(paragraph, words)
            item = _ITEM.match(text) is not None
            yield Block(_BULLET.sub("", text, count=1) if item else text, close=item)
            paragraph = []


def _without_margins(pages: Sequence[Sequence[str]]) -> Iterator[str]:
    """All lines but page numbers and what stands above or below several pages."""
    seen = Counter(
        (edge, _without_digits(page[edge])) for page in pages if page for edge in (0, -1)
    )
    for page in pages:
        for position, line in enumerate(page):
            edges = [edge for edge in (0, -1) if position == edge % len(page)]
            repeated = any(seen[edge, _without_digits(line)] >= _FEWEST_PAGES for edge in edges)
            if not repeated and not (edges and _PAGE_NUMBER.fullmatch(line)):
                yield line


def _without_digits(line: str) -> str:
    return re.sub(r"\d+", "0", line)


def _usual_length(lines: Sequence[str]) -> int:
    """That of lines in the middle of a paragraph: nine of ten are not longer."""
    lengths = sorted(map(len, lines))
    return lengths[9 * len(lengths) // 10] if lengths else 0


def _ends_block(line: str, behind: str, usual: int) -> bool:
    """Whether a paragraph, heading or list item ends with the line, rather than being broken."""
    if _ITEM.match(behind):
        return True
    if len(line) >= _FULL * usual or behind[0].islower():
        return False
    return _SENTENCE_END.search(line) is not None or _GOES_ON.search(line) is None


def _joined(lines: Sequence[str], words: Counter[str]) -> str:
    """One line of several, with the words mended that the line ends have cut."""
    pieces = [lines[0]]
    for line in lines[1:]:
        front = pieces.pop()
        cut = _HYPHENATED.search(front)
        if front.endswith("\u00ad") or (cut and _hyphen_is_new(cut[1], line, words)):
            pieces += [front[:-1], line]
        elif cut or (_UNSPACED.match(front[-1]) and _UNSPACED.match(line[0])):
            pieces += [front, line]
        else:
            pieces += [f"{front} ", line]
    return "".join(pieces)


def _hyphen_is_new(word: str, line: str, words: Counter[str]) -> bool:
    """Whether the line end brought the hyphen, as far as the other words of the text tell."""
    rest = _FIRST_WORD.match(line)
    if rest is None or not line[0].islower():  # 1914-18, Anglo-Saxon
        return False
    return words[f"{word}-{rest[0]}".lower()] <= words[f"{word}{rest[0]}".lower()]
