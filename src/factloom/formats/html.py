"""HTML: the text that a visitor of the page reads.

Where the page marks its content (`main`, or one `article`), only that is read; scripts, menus,
forms, side columns, page headers and footers, what is hidden, and marks of footnotes such as [3]
are left out. Headings, paragraphs, list items and rows of tables are sentences of their own at
least. A page that is not UTF-8 is read as the encoding that it declares.

Elements are nested as deeply as browsers nest them and no deeper: the work of a parser grows with
the depth, and 100,000 opened `div`s are no page but a trap.

HTML Living Standard, parsed as browsers do: https://html.spec.whatwg.org
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from factloom.document import Document
from factloom.errors import InputError, Place
from factloom.files.report import Report
from factloom.files.source import Source
from factloom.formats.page_blocks import CELL_SEPARATOR, Block, read_blocks
from factloom.formats.plain_text import whole_text

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_FIRST_TAG = re.compile(r"(?>\s|<\?.*?\?>|<!--.*?-->)*+<(?:!doctype\s+html|html)\b", re.I | re.S)
_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*[\"']?([\w-]+)", re.I)
_CHARSET_WITHIN = 4096  # bytes
_UNSEEN = re.compile("[\u00ad\u200b\ufeff]")  # places where a long word may be broken
_FOOTNOTE = re.compile(r"\s*\[[^\[\]]{1,12}\]\s*")
_NOT_DISPLAYED = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LEFT_OUT = _names(
    "head script style noscript template svg math canvas iframe object audio video picture map "
    "nav aside footer menu dialog button select textarea label input datalist"
)
_LEFT_OUT_ROLES = _names(
    "navigation banner contentinfo complementary search menu menubar dialog alert"
)
_BLOCKS = _names(
    "html body main article section div header hgroup h1 h2 h3 h4 h5 h6 p blockquote pre address "
    "ul ol li dl dt dd table caption thead tbody tfoot tr figure figcaption details summary "
    "fieldset legend form center hr"
)
_CLOSE_BLOCKS = _names("li tr dt dd")
_CELLS = _names("td th")

_DEEPEST = 512  # as in Chrome
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*|!--)", re.I)
# Either they hold nothing, or they are closed by the next of their kind.
_NOT_NESTED = _names(
    "!-- area base br col embed hr img input link meta source track wbr html head body p li dt dd "
    "option optgroup rt rp caption colgroup thead tbody tfoot tr td th"
)
_UNPARSED = _names("script style textarea title xmp iframe noembed noframes")
_SCOPES = _names("table template object applet marquee button")


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return _FIRST_TAG.match(head) is not None


def read(source: Source, report: Report) -> Iterator[Document]:
    _parse("", source.place)  # without the library nothing else needs to be said
    yield from read_blocks(page_blocks(_markup(source), source.place), source, report)


def page_blocks(markup: str, place: Place | None = None) -> Iterator[Block]:
    """The blocks that are read on a page, or a part of one."""
    page = _parse(markup, place)
    if page.body is None:
        return
    title = page.css_first("head > title")
    blocks = _blocks_with_text(_content(page)) or _blocks_with_text(page.body)
    if blocks and title is not None and page.css_first("h1") is None:
        yield Block(" ".join(title.text().split()))
    yield from blocks


def _parse(markup: str, place: Place | None) -> "LexborHTMLParser":
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError:
        missing = {"kind": "HTML", "library": "selectolax"}
        raise InputError("page-library-missing", place, **missing) from None
    return LexborHTMLParser(_flattened(markup))


def _flattened(markup: str) -> str:
    """The markup without the tags that open more than `_DEEPEST` elements within each other."""
    if markup.count("<") <= _DEEPEST:
        return markup
    kept: list[str] = []
    opened: list[str] = []
    start = position = 0
    while match := _TAG.search(markup, position):
        closing, name = match[1], match[2].lower()
        position = _end_of_tag(markup, match.end(), name)
        if closing == "/":
            _close(opened, name)
        elif name not in _NOT_NESTED and len(opened) < _DEEPEST:
            opened.append(name)
        elif name not in _NOT_NESTED and name not in _UNPARSED:
            kept += (markup[start : match.start()], "<hr>" if name in _BLOCKS else "")
            start = position
    return "".join([*kept, markup[start:]])


def _end_of_tag(markup: str, position: int, name: str) -> int:
    """Where the markup goes on: behind a comment, and behind what is no markup."""
    if name == "!--":
        return (markup.find("-->", position) + 1 or len(markup)) + 2
    end = markup.find(">", position) + 1 or len(markup)
    if name not in _UNPARSED:
        return end
    closed = re.compile(f"</{name}", re.I).search(markup, end)
    return len(markup) if closed is None else closed.start()


def _close(opened: list[str], name: str) -> None:
    """Close the last element of that name with all in it; a table keeps in what is opened in it."""
    for index in range(len(opened) - 1, -1, -1):
        if opened[index] == name:
            del opened[index:]
            return
        if opened[index] in _SCOPES:
            return


def _markup(source: Source) -> str:
    try:
        return whole_text(source)
    except InputError as error:
        content = source.content() if error.code in ("wrong-encoding", "cut-encoding") else b""
        declared = _CHARSET.search(content[:_CHARSET_WITHIN])
        if declared is None:
            raise
        try:
            return content.decode(declared[1].decode("ascii"))
        except (LookupError, ValueError):  # no such encoding, or not this one
            raise error from None


def _content(page: "LexborHTMLParser") -> "LexborNode":
    """The part of the page that it calls its content, else all of it."""
    assert page.body is not None
    for selector in ("main, [role=main]", "article"):
        found = page.body.css(selector)
        if len(found) == 1:
            return found[0]
    return page.body


def _blocks_with_text(root: "LexborNode") -> list[Block]:
    return [block for block in _blocks(root) if block.text]


def _blocks(root: "LexborNode") -> Iterator[Block]:
    pieces: list[str] = []
    filled = close = False
    verbatim = 0  # inside so many <pre>
    for node, entered in _walk(root):
        tag = node.tag
        if node.is_text_node:
            if entered:
                text = _UNSEEN.sub("", node.text())
                pieces.append(text if verbatim else re.sub(r"\s+", " ", text))
                filled = filled or not text.isspace()
        elif tag in _BLOCKS:
            yield Block(_tidy("".join(pieces)), close)
            pieces, filled = [], False
            close = entered and tag in _CLOSE_BLOCKS
            verbatim += (tag == "pre") * (1 if entered else -1)
        elif entered and tag == "br":
            pieces.append("\n")
        elif entered and tag in _CELLS and filled:
            pieces.append(CELL_SEPARATOR)
    yield Block(_tidy("".join(pieces)), close)


def _tidy(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(lines).strip().removesuffix(CELL_SEPARATOR.rstrip()).rstrip()


def _walk(root: "LexborNode") -> Iterator[tuple["LexborNode", bool]]:
    """Every node that is read, entered (True) and left; in a loop, as pages may nest deeply."""
    node = root
    while True:
        yield node, True
        inner = None if _is_left_out(node, root) else node.child
        while inner is None:
            yield node, False
            if node.mem_id == root.mem_id:
                return
            inner = node.next
            if inner is None:
                assert node.parent is not None
                node = node.parent
        node = inner


def _is_left_out(node: "LexborNode", root: "LexborNode") -> bool:
    if not node.is_element_node or node.mem_id == root.mem_id:
        return False
    if node.tag in _LEFT_OUT:
        return True
    match node.tag:
        case "header":  # that of the whole page, not of its article
            return root.tag == "body" and node.css_first("h1, h2") is None
        case "pre":
            return node.css_first("code") is not None
        case "sup":
            return _FOOTNOTE.fullmatch(node.text()) is not None
    attributes = node.attributes
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or attributes.get("role") in _LEFT_OUT_ROLES
        or _NOT_DISPLAYED.search(attributes.get("style") or "") is not None
    )
