"""Which format a file has, and where output goes."""

import gzip
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import DocumentError, InputError
from factloom.files.source import Source
from factloom.formats import registry
from format_samples import DOCRED, JSONL, PAGES, SAMPLES, TEXT


def detected(path: Path, content: str) -> str:
    path.write_text(content, encoding="utf-8")
    return registry.detect(Source(path))


@pytest.mark.parametrize("format", SAMPLES)
@pytest.mark.parametrize("name", ["file", "file.csv", "file.txt"])
def test_content_tells_the_format_whatever_the_name(tmp_path: Path, format: str, name: str) -> None:
    assert detected(tmp_path / name, SAMPLES[format]) == format


def test_docred_lines_and_the_empty_list_are_docred(tmp_path: Path) -> None:
    assert detected(tmp_path / "a", DOCRED[1:-1].replace("}, {", "}\n{")) == "docred"
    assert detected(tmp_path / "b", " [ \n ]\n") == "docred"


@pytest.mark.parametrize("sign", ["\u3000", "\u00a0", "\u200b", "\u00ad", "\f", "\U0001f600"])
def test_prose_may_hold_unusual_spaces_and_signs(tmp_path: Path, sign: str) -> None:
    assert detected(tmp_path / "a", f"{sign}One{sign} two.") == "text"


def test_document_without_pairs_in_front_does_not_hide_cdr(tmp_path: Path) -> None:
    assert detected(tmp_path / "a", f"1\tNothing here .\n{SAMPLES['cdr']}") == "cdr"


@pytest.mark.parametrize("content", ['{"P6": "head of government"}', "[1, 2]", "a\tb\tc\n", "\x1f"])
def test_unknown_content_is_an_error_that_lists_the_formats(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError) as caught:
        detected(tmp_path / "file", content)
    assert caught.value.code == "unknown-format"
    assert f"--format: {', '.join(formats.READABLE)}" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PK\x03\x04\x14\0\x06\0", "docx"),
        (rb"{\rtf1\ansi Torvik}", "Rich Text"),
        (bytes.fromhex("d0cf11e0a1b11ae1"), "old office document"),
        (b"\x89PNG\r\n\x1a\n\0", "picture"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "picture"),
        (b"GIF89a\x01\0", "picture"),
    ],
)
def test_other_kinds_of_files_are_called_by_their_name(
    tmp_path: Path, content: bytes, kind: str
) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=kind) as caught:
        registry.detect(Source(path))
    assert caught.value.code == "foreign-file"


def test_txt_suffix_decides_where_the_content_does_not(tmp_path: Path) -> None:
    assert detected(tmp_path / "file.txt", "[Music] He sings.") == "text"
    assert detected(tmp_path / "file.txt.gz", "Name\tAge\n") == "text"


@pytest.mark.parametrize(
    "content",
    ["Ada PER-B\nleft O\n", "Ada B_PER\n", "Ada b-per\nleft o\n", "Ada\tPER-B\nleft\tO\n"],
)
def test_mistaken_tags_of_a_conll_file_are_told_instead_of_read_as_prose(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "x.conll"
    assert detected(path, content) == "conll"
    assert {flaw.code for flaw in formats.check(path)} == {"unknown-tag"}


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.conll", "conll"),
        ("a.CONLL.gz", "conll"),
        ("a.json", "docred"),
        ("a.pubtator", "pubtator"),
    ],
)
def test_prose_with_the_suffix_of_data_is_of_that_format(
    tmp_path: Path, name: str, format: str
) -> None:
    assert detected(tmp_path / name, "Torvik lies on the Ouse.\n") == format


@pytest.mark.parametrize("format", sorted(SAMPLES.keys() - {"text"}))
def test_data_with_the_suffix_of_other_data_is_told_by_its_content(
    tmp_path: Path, format: str
) -> None:
    assert detected(tmp_path / "file.json", SAMPLES[format]) == format


def test_unknown_json_is_not_told_by_its_suffix(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown-format"):
        detected(tmp_path / "a.json", '{"P6": "head of government"}')


def test_content_of_two_formats_is_decided_by_the_suffix_or_told_ambiguous(tmp_path: Path) -> None:
    both = JSONL.replace('"factloom": 1', '"factloom": 1, "sents": []', 1)
    assert detected(tmp_path / "a.jsonl", both) == "jsonl"
    assert detected(tmp_path / "a.json", both) == "docred"
    with pytest.raises(InputError, match="looks like several formats: jsonl, docred"):
        detected(tmp_path / "a", both)


def test_wrong_encoding_is_a_better_explanation_than_an_unknown_format(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(DOCRED.encode("utf-16"))
    with pytest.raises(InputError) as caught:
        formats.read(path)
    assert caught.value.code == "other-unicode"


def test_unknown_names_of_formats_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    for name in ("xml", "docred-submission"):
        with pytest.raises(InputError, match="jsonl, docred, cdr, pubtator, conll"):
            formats.read(tmp_path / "a.txt", name)
    with pytest.raises(InputError, match="docred-submission"):
        formats.write([], tmp_path / "b.txt", "xml")
    with pytest.raises(InputError, match=r"\.jsonl, \.ndjson, \.json"):
        formats.write([], tmp_path / "b.xml")


@pytest.mark.parametrize("format", PAGES)
def test_pages_are_not_written(tmp_path: Path, format: str) -> None:
    with pytest.raises(InputError, match="no-such-format"):
        formats.write([Document("Torvik")], tmp_path / "a.txt", format)
    for suffix in formats.FORMATS[format].suffixes:
        with pytest.raises(InputError, match="no-format-for-suffix"):
            formats.write([Document("Torvik")], tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.JSONL.GZ", "a.json.gz", "a.data", "a.pubtator", "a.txt"]
)
def test_suffix_tells_what_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    formats.write([Document("Torvik", id="a")], path)
    zipped = path.read_bytes()[:2] == b"\x1f\x8b"
    assert zipped == name.lower().endswith(".gz")
    expected = registry.target_format(path).name
    assert expected == "cdr" or registry.detect(Source(path)) == expected
    assert [document.text for document in formats.read(path, expected)] == ["Torvik"]


@pytest.mark.parametrize("format", sorted(SAMPLES.keys() & set(registry.WRITABLE)))
def test_what_is_written_is_recognised_and_flawless(tmp_path: Path, format: str) -> None:
    document = Document(
        "Ada left Torvik.",
        "ada",
        mentions=(Mention(0, 3, "PER"), Mention(9, 15, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "left"),),
    )
    path = tmp_path / "file"
    formats.write([document], path, format)
    assert registry.detect(Source(path)) == format
    assert list(formats.check(path)) == []


def test_written_gzip_holds_no_time_stamp(tmp_path: Path) -> None:
    formats.write([Document("Torvik")], tmp_path / "a.jsonl.gz")
    formats.write([Document("Torvik")], tmp_path / "b.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_failure_leaves_the_old_file_and_no_half_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    formats.write([Document("old")], path)
    with pytest.raises(DocumentError):
        formats.write([Document("new"), Document("x", attributes={"y": object()})], path)
    assert [document.text for document in formats.read(path)] == ["old"]
    assert list(tmp_path.iterdir()) == [path]


def test_file_can_be_rewritten_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    formats.write([Document(str(number)) for number in range(5)], path)
    assert formats.write((d.replace(id=d.text) for d in formats.read(path)), path) == 5
    assert [document.id for document in formats.read(path)] == ["0", "1", "2", "3", "4"]


def test_unwritable_place_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "missing" / "a.jsonl", tmp_path / "b.jsonl"):
        (tmp_path / "b.jsonl").mkdir(exist_ok=True)
        with pytest.raises(InputError, match="file-unwritable"):
            formats.write([Document("a")], path)
    assert list(tmp_path.iterdir()) == [tmp_path / "b.jsonl"]


def test_half_a_surrogate_pair_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="not-writable"):
        formats.write([Document("a", id="\ud83d")], tmp_path / "a.txt", "pubtator")


def test_gzipped_samples_are_detected(tmp_path: Path) -> None:
    for format, content in SAMPLES.items():
        path = tmp_path / f"{format}.gz"
        path.write_bytes(gzip.compress(content.encode("utf-8")))
        assert registry.detect(Source(path)) == format
