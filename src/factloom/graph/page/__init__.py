"""One HTML page that needs nothing else: texts with their mentions, the graph, the evidence.

It is made of page.html, the styles and the scripts beside this file. Most of these are the live
page's too, which the service sends (serving/page). The content stands in the page as JSON, and the
page's security policy allows the scripts written here (by their hash) and no others: text that
looks like HTML stays text, and nothing is loaded from elsewhere.
"""

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from itertools import islice
from pathlib import Path
from string import Template

from factloom.document import Document
from factloom.files.output import write_pieces
from factloom.graph.exports.merged import merged_graph
from factloom.graph.exports.models import Models
from factloom.graph.merging import Cluster
from factloom.graph.page.content import page_content

MOST_DOCUMENTS = 1000  # a browser holds no more with ease; the page says how many are left out
# What the live page has, too.
SHARED_STYLES = ("look.css",)
SHARED_SCRIPTS = (
    "elements.js",
    "type_colours.js",
    "text_pieces.js",
    "text_view.js",
    "layout.js",
    "drawing.js",
)
_STYLES = (*SHARED_STYLES, "page.css")
_SCRIPTS = (*SHARED_SCRIPTS, "page.js")


def write(
    documents: Iterable[Document],
    path: Path,
    *,
    relation_names: Mapping[str, str],
    models: Models,
    clusters: Iterable[Cluster] | None,
) -> None:
    remaining = iter(documents)
    shown = list(islice(remaining, MOST_DOCUMENTS))
    omitted = sum(1 for _ in remaining)
    with merged_graph(shown, relation_names, clusters) as graph:
        content = page_content(graph, omitted=omitted)
    name = content["documents"][0]["name"] if len(shown) == 1 else path.name.partition(".")[0]
    write_pieces([page(name, {**content, "model": str(models)})], path)


def page(title: str, content: Mapping[str, object]) -> str:
    """The whole page as text."""
    here = files("factloom.graph.page")
    scripts = [(here / name).read_text("utf-8") for name in _SCRIPTS]
    hashes = " ".join(_hash_source(script) for script in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )
    return Template((here / "page.html").read_text("utf-8")).substitute(
        title=html.escape(title),
        policy=policy,
        style="".join((here / name).read_text("utf-8") for name in _STYLES),
        content=_inside_script(content),
        scripts="".join(f"<script>{script}</script>\n" for script in scripts),
    )


def _inside_script(content: Mapping[str, object]) -> str:
    """JSON in which nothing can end the script element that it stands in."""
    text = json.dumps(content)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _hash_source(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
