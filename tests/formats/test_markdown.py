import gzip
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_strategies import searched
from factloom import formats
from factloom.document import Document
from factloom.errors import FactloomError, InputError


def read(folder: Path, page: str, name: str = "page.md") -> Document:
    path = folder / name
    path.write_bytes(page.encode("utf-8"))
    [document] = formats.read(path)
    return document


def sentences(document: Document) -> list[str]:
    return [document.sentence_text(index) for index in range(len(document.sentences))]


def test_blocks_are_sentences_of_their_own(tmp_path: Path) -> None:
    page = """\
Torvik
======

The town *lies* on the
river [Ouse](http://ouse.org "a river"). It has `two` bridges.

## history

- founded by monks
- rebuilt in 1802
  by the king

1. the first bridge

> quoted words

| bridge | year |
|--------|------|
| old    | 1802 |
| new    |      |
"""
    document = read(tmp_path, page)
    assert document.id == "page.md"
    assert sentences(document) == [
        "Torvik",
        "The town lies on the river Ouse.",
        "It has two bridges.",
        "history",
        "founded by monks",
        "rebuilt in 1802 by the king",
        "the first bridge",
        "quoted words",
        "bridge | year",
        "old | 1802",
        "new",
    ]
    assert "\n\nhistory\n\nfounded by monks\nrebuilt in 1802" in document.text


def test_what_is_no_prose_is_left_out(tmp_path: Path) -> None:
    page = (
        "---\ntitle: settings\n---\n![badge](a.svg)\n\n```python\nprint()\n```\n\n"
        "    indented()\n\n<!-- remark -->\n\n<script>x()</script>\n\nSeen.\n\n[1]: http://a.b\n"
    )
    assert read(tmp_path, page).text == "Seen."


@pytest.mark.parametrize(
    "page",
    [
        "---\n\nAda founded Quillmark.\n\n---\n\nBob lives.",
        "---\nAda founded Quillmark.\n\n---\nBob lives.",
        "---\n---\nAda founded Quillmark.\n\n---\nBob lives.",
        "---\r\nAda founded Quillmark.\r\n\r\n---\r\n\r\nBob lives.",
    ],
)
def test_prose_below_a_line_across_the_page_is_no_settings(tmp_path: Path, page: str) -> None:
    assert sentences(read(tmp_path, page)) == ["Ada founded Quillmark.", "Bob lives."]


@pytest.mark.parametrize(
    "settings",
    ["title: x", "title:\n  x", "my-key: [\n\n1]", '"a key": x', "标题: 马\n\nb: 2"],
)
@pytest.mark.parametrize("end", ["---", "..."])
def test_settings_begin_with_a_key(tmp_path: Path, settings: str, end: str) -> None:
    page = f"---\n{settings}\n{end}\nSeen."
    assert read(tmp_path, page).text == "Seen."
    assert read(tmp_path, page.replace("\n", "\r\n")).text == "Seen."


def test_markup_within_a_line_leaves_its_words(tmp_path: Path) -> None:
    page = "**Ada** ~~King~~ <b>Lovelace</b> \\*1815 &amp; <http://a.b>  \nborn<br>in London"
    assert read(tmp_path, page).text == "Ada King Lovelace *1815 & http://a.b\nborn\nin London"


def test_html_blocks_are_read_as_html(tmp_path: Path) -> None:
    page = "<div><p>One</p><nav>Menu</nav><p>two</p></div>\n\nThree."
    assert sentences(read(tmp_path, page)) == ["One", "two", "Three."]


def test_suffix_decides_even_if_the_page_quotes_data(tmp_path: Path) -> None:
    page = '{"factloom": 1, "text": "a"}\n\nis a line of **jsonl**.'
    for name in ("page.md", "PAGE.MARKDOWN", "page.md.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(page.encode()) if name.endswith(".gz") else page.encode())
        [document] = formats.read(path)
        assert document.text.endswith("is a line of jsonl.")
        assert document.id == name.removesuffix(".gz")


def test_deep_lists_are_read_to_the_ground(tmp_path: Path) -> None:
    page = "\n".join("  " * depth + f"- item {depth}" for depth in range(40))
    assert len(read(tmp_path, page).sentences) == 40


def test_quotes_that_lie_too_deep_are_an_error_that_names_the_line(tmp_path: Path) -> None:
    assert read(tmp_path, "> " * 99 + "Ada").text == "Ada"
    settings = "---\ntitle: x\n---\n"
    for page in ("> " * 100 + "Ada", "- " * 60 + "Ada"):
        with pytest.raises(InputError, match=r"page\.md, line 6: .*\[page-too-deep\]"):
            read(tmp_path, f"{settings}First.\n\n{page}")


def test_page_without_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no-readable-text"):
        read(tmp_path, "![badge](a.svg)\n")
    with pytest.raises(InputError, match="empty-file"):
        read(tmp_path, "\n")


def test_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    with pytest.raises(InputError, match=r"markdown-it-py.*factloom\[files\]"):
        read(tmp_path, "Text.")


def document_or_none(folder: Path, content: str) -> Document | None:
    """None if there is an error that names the file."""
    try:
        return read(folder, content)
    except FactloomError as error:
        named = error.flaw.place.file
    assert named == str(folder / "page.md")
    return None


@searched
@given(st.text("ab \n\t*_`#->|[]()<!&;1.\\~=:é马\0", max_size=80))
def test_any_page_gives_a_document_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, page: str
) -> None:
    path = tmp_path_factory.mktemp("markdown")
    document = document_or_none(path, page)
    if document is not None:
        assert document.text.strip() == document.text != ""
        covered = "".join(sentences(document))
        assert "".join(covered.split()) == "".join(document.text.split())
