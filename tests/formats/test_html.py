import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from document_strategies import searched
from factloom import formats
from factloom.document import Document
from factloom.errors import FactloomError, InputError
from factloom.files.source import Source
from factloom.formats import registry
from factloom.formats.html import _flattened, page_blocks


def read(folder: Path, page: str | bytes, name: str = "page.html") -> Document:
    path = folder / name
    path.write_bytes(page if isinstance(page, bytes) else page.encode("utf-8"))
    [document] = formats.read(path)
    return document


def sentences(document: Document) -> list[str]:
    return [document.sentence_text(index) for index in range(len(document.sentences))]


PAGE = """\
<!DOCTYPE html>
<html><head><title>Torvik - Travels</title><style>p {color: red}</style></head>
<body>
<header><a href="/">Log in</a></header>
<nav><ul><li>Home</li><li>Contact</li></ul></nav>
<main>
  <h1>Torvik</h1>
  <p>The town lies
     on the <a href="/ouse">Ouse</a>.<sup>[3]</sup> It is <em>old</em>.</p>
  <ul><li>founded by monks<li>rebuilt in 1802 </ul>
  <table><tr><th>Bridge</th><th>Year</th></tr><tr><td>old</td><td>1802</td></tr></table>
  <script>track()</script>
  <aside>Book a hotel!</aside>
  <p hidden>secret</p><p style="display: none">secret</p><p aria-hidden="true">secret</p>
</main>
<footer>Imprint</footer>
</body></html>
"""


def test_content_is_read_and_what_stands_around_it_is_not(tmp_path: Path) -> None:
    document = read(tmp_path, PAGE)
    assert document.id == "page.html"
    assert sentences(document) == [
        "Torvik",
        "The town lies on the Ouse.",
        "It is old.",
        "founded by monks",
        "rebuilt in 1802",
        "Bridge | Year",
        "old | 1802",
    ]
    assert "founded by monks\nrebuilt in 1802\n" in document.text


def test_page_that_marks_no_content_is_read_without_menus(tmp_path: Path) -> None:
    page = PAGE.replace("<main>", "").replace("</main>", "")
    assert sentences(read(tmp_path, page)) == sentences(read(tmp_path, PAGE))


def test_header_of_the_page_counts_only_with_a_heading(tmp_path: Path) -> None:
    page = "<header>Log in</header><header><h1>Torvik</h1>by Ada</header><p>Old."
    assert read(tmp_path, page).text == "Torvik\n\nby Ada\n\nOld."


def test_title_stands_in_for_a_missing_heading(tmp_path: Path) -> None:
    page = "<html><head><title>\n Torvik &amp; Ouse </title></head><body><p>Old.</p></body></html>"
    assert sentences(read(tmp_path, page)) == ["Torvik & Ouse", "Old."]


def test_empty_main_part_does_not_hide_the_rest(tmp_path: Path) -> None:
    assert read(tmp_path, "<main></main><p>Old.</p>").text == "Old."


def test_breaks_spaces_and_soft_hyphens(tmp_path: Path) -> None:
    page = "<p>Main&nbsp;Street   7<br>Tor&shy;vik</p><pre>Dear  Ada,\nyes</pre><pre><code>x</code>"
    assert read(tmp_path, page).text == "Main Street 7\nTorvik\n\nDear Ada,\nyes"


def test_cells_with_paragraphs_and_empty_cells(tmp_path: Path) -> None:
    page = (
        "<table><tr><td></td><td>a</td><td></td></tr><tr><td><p>b</p></td><td>c</td></tr></table>"
    )
    assert sentences(read(tmp_path, page)) == ["a", "b", "c"]


def test_declared_encoding_is_followed_and_a_wrong_one_is_an_error(tmp_path: Path) -> None:
    page = '<html><meta charset="{}"><p>Café in 杭州</p></html>'
    assert read(tmp_path, page.format("gb18030").encode("gb18030")).text == "Café in 杭州"
    for name in ("utf-8", "nonsense", "hex", "ascii"):
        with pytest.raises(InputError, match="wrong-encoding"):
            read(tmp_path, page.format(name).encode("gb18030"))


@pytest.mark.parametrize(
    "page",
    [
        "<!doctype HTML>\n<p>Old.",
        '<?xml version="1.0"?>\n<!-- remark -->\n<html xmlns="x"><p>Old.</p></html>',
        " \n<HTML lang=en><body>Old.",
    ],
)
def test_content_tells_html_whatever_the_name(tmp_path: Path, page: str) -> None:
    for name in ("page", "page.txt"):
        (tmp_path / name).write_text(page, encoding="utf-8")
        assert registry.detect(Source(tmp_path / name)) == "html"
        assert read(tmp_path, page, name).text == "Old."


def test_many_remarks_in_front_and_many_cells_are_read(tmp_path: Path) -> None:
    # A pattern that goes back and forth between the remarks would not come to an end.
    (tmp_path / "page").write_text("<!--a-->" * 200 + "Old.", encoding="utf-8")
    assert registry.detect(Source(tmp_path / "page")) == "text"
    cells = read(tmp_path, "<table><tr>" + "<td>a" * 20000).text
    assert cells == " | ".join("a" * 20000)


def test_deep_pages_are_read(tmp_path: Path) -> None:
    page = "<div>" * 3000 + "Torvik" + "</div>" * 3000
    assert read(tmp_path, page).text == "Torvik"


def test_page_without_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no-readable-text"):
        read(tmp_path, "<html><head><title>App</title></head><body><script>go()</script></body>")


def test_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
    with pytest.raises(InputError, match=r"selectolax.*factloom\[files\]") as caught:
        read(tmp_path, "<p>Text.")
    assert caught.value.flaw.place.file == str(tmp_path / "page.html")


TAGS = ["p", "div", "li", "ul", "table", "tr", "td", "main", "article", "pre", "code", "nav", "sup"]
TAGS += ["br", "template", "svg", "html", "body", "head", "title", "script", "h1", "header", "b"]
tags = st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS])


def document_or_none(folder: Path, content: str) -> Document | None:
    """None if there is an error that names the file."""
    try:
        return read(folder, content)
    except FactloomError as error:
        named = error.flaw.place.file
    assert named == str(folder / "page.html")
    return None


@searched
@given(
    st.lists(tags | st.sampled_from(["&#0;", "&#xd800;", "&amp", "<!--", "-->", "<", "a b", "."]))
)
def test_any_page_gives_a_document_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    path = tmp_path_factory.mktemp("html")
    document = document_or_none(path, "".join(pieces))
    if document is not None:
        assert document.text.strip() == document.text != ""
        document.text.encode("utf-8")
        covered = "".join(sentences(document))
        assert "".join(covered.split()) == "".join(document.text.split())


def test_what_is_nested_too_deeply_is_read_in_the_order_of_the_page() -> None:
    deep = "".join(f"<div>{number} " for number in range(5_000)) + "</div>" * 5_000
    texts = [block.text for block in page_blocks(f"<p>before</p>{deep}<p>after</p>")]
    assert texts == ["before", *map(str, range(5_000)), "after"]


@pytest.mark.parametrize("opening", ["<div>", "<ul><li>", "<table><tr><td>", "<pre>", "<sup>"])
def test_no_depth_is_too_deep(opening: str) -> None:
    assert max(map(depth_of, [_flattened(opening * 3_000), opening * 400])) <= 4 * 512 + 2
    assert [block.text for block in page_blocks(opening * 3_000 + "x")] == ["x"]


def depth_of(markup: str) -> int:
    node, depth = LexborHTMLParser(markup).body, 0
    while node is not None:
        node, depth = node.child, depth + 1
    return depth


def test_what_a_table_holds_does_not_close_what_is_around_it() -> None:
    trap = "<div><table><tr><td></div>" * 2_000
    assert _flattened(trap).count("<table>") < 512


@pytest.mark.parametrize(
    "markup",
    [
        "<div><p>x<p>y</div>" * 600,
        "<ul>" + "<li>x" * 2_000 + "</ul>",
        "<span>" * 400 + "</div>" * 600,
        "<!-- " + "<div>" * 2_000 + " --> x",
        "<script>" + "'<div>'" * 2_000 + "</script> x",
        "<p><img><br>" * 2_000,
    ],
)
def test_pages_that_are_not_deep_stay_as_they_are(markup: str) -> None:
    assert _flattened(markup) == markup
