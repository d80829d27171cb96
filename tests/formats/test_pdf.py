import gzip
import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdf_files import pdf_file
from pypdf import PdfWriter

from document_strategies import searched
from factloom import formats
from factloom.document import Document
from factloom.errors import FactloomError, InputError
from factloom.files.source import Source
from factloom.formats import registry
from factloom.formats.pdf import _paragraphs


def read(folder: Path, content: bytes, name: str = "paper.pdf") -> Document:
    path = folder / name
    path.write_bytes(content)
    [document] = formats.read(path)
    return document


def sentences(document: Document) -> list[str]:
    return [document.sentence_text(index) for index in range(len(document.sentences))]


LINES = [
    "The Bridges of Torvik",
    "The town of Torvik lies on the river Ouse, which the monks of Saint Hal-",
    "vard crossed in 1120 (by boat). The first bridge was built by the monk",
    "Aslak, a well-known engineer of his time.",
    "Its well-",
    "known arches fell in the flood of 1802.",
    "• built of oak",
    "• rebuilt in stone",
]


def test_lines_and_words_that_were_broken_are_mended(tmp_path: Path) -> None:
    document = read(tmp_path, pdf_file([LINES]))
    assert document.id == "paper.pdf"
    assert sentences(document) == [
        "The Bridges of Torvik",
        "The town of Torvik lies on the river Ouse, which the monks of Saint Halvard crossed in "
        "1120 (by boat).",
        "The first bridge was built by the monk Aslak, a well-known engineer of his time.",
        "Its well-known arches fell in the flood of 1802.",
        "built of oak",
        "rebuilt in stone",
    ]


def test_sentence_goes_on_behind_headers_and_page_numbers(tmp_path: Path) -> None:
    others = "vard crossed in the year 1120, when the water was as low as now"
    lines = [LINES[1], others, others]
    pages = [["Annals of Torvik", line, str(number)] for number, line in enumerate(lines, 1)]
    text = read(tmp_path, pdf_file(pages)).text
    assert "Annals" not in text
    assert "monks of Saint Halvard crossed" in text
    assert text.endswith("as now")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["The Anglo-", "Saxon kings"], ["The Anglo-Saxon kings"]),
        (["in 1914-", "18 they"], ["in 1914-18 they"]),
        (["inter\u00ad", "national"], ["international"]),
        (["三国时代的马云出生", "于杭州。"], ["三国时代的马云出生于杭州。"]),
        (["a long line that goes on", "Short", "Another long line that is full"],
         ["a long line that goes on Short", "Another long line that is full"]),
        (["the town of", "Torvik in the far cold north of the country"],
         ["the town of Torvik in the far cold north of the country"]),
        (["1. first", "2. second"], ["1. first", "2. second"]),
    ],
)  # fmt: skip
def test_paragraphs_of_lines(lines: list[str], expected: list[str]) -> None:
    assert [block.text for block in _paragraphs([lines])] == expected


def test_content_tells_pdf_whatever_the_name(tmp_path: Path) -> None:
    content = pdf_file([["Torvik is old."]])
    for name, found in (("a", content), ("a.txt", content), ("a.pdf.gz", gzip.compress(content))):
        assert read(tmp_path, found, name).text == "Torvik is old."
        assert registry.detect(Source(tmp_path / name)) == "pdf"


@pytest.mark.parametrize("name", ["a.txt", "a"])
def test_prose_that_speaks_of_pdf_files_is_prose(tmp_path: Path, name: str) -> None:
    text = "A PDF file begins with %PDF-1.7 and its version."
    assert read(tmp_path, text.encode(), name).text == text


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (pdf_file([["Secret."]], password="secret"), "encrypted-pdf"),
        (pdf_file([[], []]), "scanned-pdf"),
        (pdf_file([["Torvik."]])[:200], "broken-pdf"),
        (b"no PDF at all", "broken-pdf"),
        (b" \n", "empty-file"),
    ],
)
def test_each_way_to_fail_has_its_error(tmp_path: Path, content: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    assert (caught.value.code, caught.value.flaw.place.file) == (code, str(tmp_path / "paper.pdf"))


def test_empty_password_needs_no_key(tmp_path: Path) -> None:
    assert read(tmp_path, pdf_file([["Torvik."]], password="")).text == "Torvik."


def test_too_large_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from factloom.files import source as limits

    monkeypatch.setattr(limits, "MAXIMUM_RECORD", 100)
    with pytest.raises(InputError, match="record-too-long"):
        read(tmp_path, pdf_file([["Torvik."]]))


def test_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = pdf_file([["Torvik."]])
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(InputError, match=r"pypdf.*factloom\[files\]"):
        read(tmp_path, content)


def document_or_none(folder: Path, content: bytes) -> Document | None:
    """None if there is an error that names the file."""
    try:
        return read(folder, content)
    except FactloomError as error:
        named = error.flaw.place.file
    assert named == str(folder / "paper.pdf")
    return None


@searched
@given(st.data())
def test_damaged_files_give_a_document_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(pdf_file([LINES]))
    for _ in range(data.draw(st.integers(1, 5))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(start + 30, len(content))))
        content[start:end] = data.draw(st.binary(max_size=10))
    path = tmp_path_factory.mktemp("pdf")
    document = document_or_none(path, bytes(content))
    if document is not None:
        document.text.encode("utf-8")
        assert document.sentences


@pytest.mark.parametrize("lines", [["a"] * 60_000, ["a" * 200_000]], ids=["operations", "text"])
def test_a_file_does_not_expand_without_end(tmp_path: Path, lines: list[str]) -> None:
    writer = PdfWriter(clone_from=io.BytesIO(pdf_file([lines])))
    for page in writer.pages:
        page.compress_content_streams(level=9)
    with (tmp_path / "a.pdf").open("wb") as file:
        writer.write(file)
    assert (tmp_path / "a.pdf").stat().st_size < 5_000
    with pytest.raises(InputError) as raised:
        list(formats.read(tmp_path / "a.pdf"))
    assert raised.value.code == "expanding-pdf"


def test_a_long_text_of_its_own_is_no_trap(tmp_path: Path) -> None:
    numbers = [f"line {number * 7919 % 10_007} of a long table" for number in range(3_000)]
    (tmp_path / "a.pdf").write_bytes(pdf_file([numbers]))
    [document] = formats.read(tmp_path / "a.pdf")
    assert len(document.text) > 60_000
