import gzip
import tracemalloc
from pathlib import Path

import pytest

from factloom import formats
from factloom.errors import InputError
from factloom.files import source as limits
from format_samples import PAGES, SAMPLES, write_sample

SMALLEST = {
    "docred": '[{"title": "a", "sents": [], "vertexSet": []}]',
    "jsonl": '{"factloom": 1, "text": "a"}',
    "cdr": "1\ta b\t1:NR:2\t\t\t\t" + 2 * "\tD1\ta\tX\t0\t1\t0",
    "pubtator": "1|t|a\n1\t0\t1\ta\tX\tD1",
    "conll": "a O\nb B-X\n",
    "mrc": '[{"context": "a", "qas_id": "0.1", "entity_label": "X"}]',
    "genia": '{"tokens": ["a"], "entity_mentions": []}',
    "cluener": '{"text": "a", "label": {}}',
    "cmeee": '[{"text": "a", "entities": []}]',
    "offsets": '{"text": "a", "entities": [["X", 0, 1]]}',
    "brat": "T1\tX 0 1\ta",
    "doccano": '{"text": "a", "label": [[0, 1, "X"]]}',
    "label-studio": '[{"data": {"text": "a"}, "annotations": []}]',
    "loom": "=== a\nb\n--\n",
    "squad": '{"data": [{"paragraphs": [{"context": "a"}]}]}',
    "hotpotqa": '{"_id": "a", "question": "b", "context": []}',
    "musique": '{"id": "a", "question": "b", "paragraphs": [{"title": "", "paragraph_text": ""}]}',
    "nq-open": '{"question": "a", "answer": ["b"]}',
    "knowledgenet": '{"passageId": "1", "passageText": "a", "facts": []}',
    "fewrel": '{"P1": []}',
    "tekgen": '{"id": "1", "sent": "a", "triples": []}',
    "text": "Torvik.",
}


def error_of(path: Path, format: str | None = None) -> InputError:
    with pytest.raises(InputError) as caught:
        list(formats.read(path, format))
    return caught.value


@pytest.mark.parametrize("format", SAMPLES)
def test_gzip_is_recognised_by_its_bytes_not_by_its_name(tmp_path: Path, format: str) -> None:
    plain, zipped = tmp_path / "plain", tmp_path / "zipped" / "plain"
    zipped.parent.mkdir()
    write_sample(plain, format)
    write_sample(zipped, format, gzip.compress(plain.read_bytes()))
    assert list(formats.read(zipped)) == list(formats.read(plain))


@pytest.mark.parametrize("format", SAMPLES)
def test_byte_order_mark_and_windows_line_ends_make_no_difference(
    tmp_path: Path, format: str
) -> None:
    plain, marked = tmp_path / "plain.txt", tmp_path / "marked" / "plain.txt"
    marked.parent.mkdir()
    write_sample(plain, format)
    content = SAMPLES[format]
    if format != "text":  # whose text is kept to the character
        content = content.replace("\n", "\r\n")
    write_sample(marked, format, content.encode("utf-8-sig"))
    assert list(formats.read(marked, format)) == list(formats.read(plain, format))


def test_every_format_has_a_smallest_sample() -> None:
    assert SMALLEST.keys() == SAMPLES.keys() == set(formats.READABLE) - set(PAGES)


@pytest.mark.parametrize("format", SMALLEST)
def test_gzip_cut_off_at_any_length_is_an_error(tmp_path: Path, format: str) -> None:
    whole = gzip.compress(SMALLEST[format].encode("utf-8"))
    path = tmp_path / "cut.gz"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        expected = "empty-file" if length == 0 else "broken-gzip" if length > 1 else None
        error = error_of(path)
        assert expected in (None, error.code), length
        assert str(path) in str(error)


def test_damaged_gzip_is_an_error(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(SAMPLES["docred"].encode("utf-8")))
    content[len(content) // 2] ^= 0xFF
    path = tmp_path / "damaged.json.gz"
    path.write_bytes(content)
    assert error_of(path).code == "broken-gzip"


def test_missing_file_directory_and_empty_file_are_told_apart(tmp_path: Path) -> None:
    empty, blank = tmp_path / "empty", tmp_path / "blank"
    empty.touch()
    blank.write_text(" \n\t\n")
    assert error_of(tmp_path / "missing.json").code == "file-missing"
    assert error_of(tmp_path).code == "file-is-directory"
    for format in {None, *SAMPLES} - {"brat"}:  # there, nothing is annotated then
        assert error_of(empty, format).code == "empty-file"
        assert error_of(blank, format).code == "empty-file"


@pytest.mark.parametrize("format", SAMPLES)
@pytest.mark.parametrize(
    ("encoding", "code", "part"),
    [("latin-1", "wrong-encoding", "byte 4"), ("utf-16-le", "nul-byte", "byte 2")],
)
def test_wrong_encoding_names_line_and_byte(
    tmp_path: Path, format: str, encoding: str, code: str, part: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\n" + "café au lait".encode(encoding))
    error = error_of(path, format)
    assert error.code == code
    place = error.flaw.place
    assert (place.line, place.part) == (2, part)


@pytest.mark.parametrize("format", [None, *SAMPLES])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("order", ["le", "be"])
def test_the_mark_of_another_unicode_encoding_is_recognised(
    tmp_path: Path, format: str | None, encoding: str, order: str
) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes("\ufeffcafé au lait\n马云".encode(f"{encoding}-{order}"))
    error = error_of(path, format)
    assert error.code == "other-unicode"
    assert f"iconv -f {encoding.upper()} -t UTF-8" in str(error)


def test_the_advice_for_a_wrong_encoding_names_both_encodings(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes("café au lait".encode("latin-1"))
    assert "iconv -f latin1 -t UTF-8" in str(error_of(path))


def test_character_cut_at_the_end_of_the_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes("Torvik 马".encode()[:-1])
    assert error_of(path).code == "cut-encoding"


def test_character_on_the_edge_of_two_pieces_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.txt"
    path.write_text("马云é😀" * 5, encoding="utf-8")
    for size in range(1, 9):
        monkeypatch.setattr(limits, "_PIECE", size)
        assert [document.text for document in formats.read(path)] == ["马云é😀" * 5]


@pytest.mark.parametrize("format", SAMPLES)
def test_line_of_a_hundred_megabytes_is_refused_in_bounded_memory(
    tmp_path: Path, format: str
) -> None:
    # Gzip members one behind the other are one file: a hundred of one megabyte, packed once.
    begun = {"docred": b'[{"title": "', "squad": b'{"data": ["', "fewrel": b'{"P1": ["'}
    beginning = begun.get(format, b"")
    path = tmp_path / "long"
    path.write_bytes(gzip.compress(beginning) + 100 * gzip.compress(b"a" * 2**20))
    tracemalloc.start()
    try:
        error = error_of(path, format)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert error.code == "record-too-long"
    assert peak < 4 * limits.MAXIMUM_RECORD


def test_line_that_is_too_long_is_skipped_when_checking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.jsonl"
    good = '{"factloom": 1, "text": "good"}\n'
    path.write_text(good + "x" * 5000 + "\n" + good + "broken\n", encoding="utf-8")
    monkeypatch.setattr(limits, "MAXIMUM_RECORD", 1000)
    found = [(flaw.code, flaw.place.line) for flaw in formats.check(path)]
    assert found == [("record-too-long", 2), ("not-json", 4)]
