"""The page of the service: plain files that a browser gets from here and from nowhere else.

Its own stand beside this file; drawing, colours and the showing of texts are those of the page
that `factloom extract --output x.html` writes. They hold no data: what the page shows, it asks of
the addresses that all callers use, with the token that its user gives it. So whoever may not call
may have the page, and sees nothing in it.
"""

from functools import cache
from importlib.resources import files

from factloom.graph.page import SHARED_SCRIPTS, SHARED_STYLES

# The page may run and ask for what this service sends, and nothing else: no script or style that
# stands inside of it, no other host.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_SHARED = (*SHARED_SCRIPTS, *SHARED_STYLES)
_OWN = (
    "icon.svg",
    "page.css",
    "words.js",
    "calls.js",
    "documents.js",
    "fact_cards.js",
    "knowledge.js",
    "corrections.js",
    "reading.js",
    "answers.js",
    "browser.js",
    "page.js",
)
ADDRESSES = frozenset({"/", *(f"/page/{name}" for name in (*_SHARED, *_OWN))})


@cache
def page_file(address: str) -> tuple[str, bytes]:
    """The kind and the content of a file by one of the addresses."""
    name = "page.html" if address == "/" else address.removeprefix("/page/")
    folder = files("factloom.graph.page" if name in _SHARED else "factloom.serving.page")
    return f"{_KINDS[name.rpartition('.')[2]]}; charset=utf-8", (folder / name).read_bytes()
