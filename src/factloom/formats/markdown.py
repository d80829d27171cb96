"""Markdown: the text of a page as a reader sees it.

Headings, paragraphs, list items and rows of tables are sentences of their own at least. Code
blocks, pictures and the settings in front of a page (YAML between `---`, from a line such as
`title: ...` on) are left out; of a link its words stay.

CommonMark 0.31, with the tables and strikethrough of GitHub: https://spec.commonmark.org
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from factloom.document import Document
from factloom.errors import InputError, Place
from factloom.files.report import Report
from factloom.files.source import Source
from factloom.formats.html import page_blocks
from factloom.formats.page_blocks import CELL_SEPARATOR, Block, read_blocks
from factloom.formats.plain_text import whole_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Without a key at once the first `---` is a line across the page, and prose stands below it.
_KEY = r"""(?:[\w.-]+|"[^"\n]+"|'[^'\n]+')[ \t]*:\s"""
_SETTINGS = re.compile(
    rf"\A---[ \t]*\r?\n(?={_KEY}).*?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_CONTAINERS = ("blockquote_open", "list_item_open")
_DEEPEST = 100  # levels of them in each other; the parser calls itself for each


def read(source: Source, report: Report) -> Iterator[Document]:
    parser = _parser(source)
    text = whole_text(source)
    page = _SETTINGS.sub("", text)
    tokens = parser.parse(page)
    _check_depth(tokens, source, lines_in_front=text.count("\n") - page.count("\n"))
    yield from read_blocks(_blocks(tokens), source, report)


def _parser(source: Source) -> "MarkdownIt":
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        missing = {"kind": "Markdown", "library": "markdown-it-py"}
        raise InputError("page-library-missing", source.place, **missing) from None
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST})
    return parser.enable(["table", "strikethrough"])


def _check_depth(tokens: Iterable["Token"], source: Source, lines_in_front: int) -> None:
    """Raise an error where the parser has left out what lies too deep: it does so silently."""
    for token in tokens:
        if token.type in _CONTAINERS and token.level + 1 >= _DEEPEST:
            line = None if token.map is None else lines_in_front + token.map[0] + 1
            place = Place(file=str(source.path), line=line)
            raise InputError("page-too-deep", place, limit=_DEEPEST)


def _blocks(tokens: Iterable["Token"]) -> Iterator[Block]:
    depth = 0  # of lists
    row: list[str] = []
    in_row = False
    for token in tokens:
        match token.type:
            case "list_item_open":
                depth += 1
            case "list_item_close":
                depth -= 1
            case "tr_open":
                row, in_row = [], True
            case "tr_close":
                yield Block(CELL_SEPARATOR.join(filter(None, row)), close=True)
                in_row = False
            case "html_block":
                yield from page_blocks(token.content)
            case "inline" if in_row:
                row.append(_inline_text(token))
            case "inline":
                yield Block(_inline_text(token), close=depth > 0)


def _inline_text(token: "Token") -> str:
    return "".join(map(_piece, token.children or ())).strip()


def _piece(token: "Token") -> str:
    match token.type:
        case "text" | "text_special" | "code_inline":
            return token.content
        case "softbreak":
            return " "
        case "hardbreak":
            return "\n"
        case "html_inline" if _LINE_BREAK.fullmatch(token.content):
            return "\n"
    return ""
