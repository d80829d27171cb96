"""Whatever the bytes are: Documents or a FactloomError, and `check` always comes to its end."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from document_strategies import ODD_CHARACTERS, ODD_VALUES, searched
from format_samples import DOCRED_RECORD, JSONL, SAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st

from factloom import formats
from factloom.document import Document
from factloom.errors import FactloomError

FORMAT_NAMES = (*formats.READABLE, None)
BEYOND_READING = {"mention-name-differs", "mention-across-sentences", "repeated-document"}
thoroughly = settings(searched, max_examples=150)

fragments = st.binary(max_size=6) | st.text(ODD_CHARACTERS + "0123", max_size=6).map(
    lambda text: text.encode("utf-8")
)


@st.composite
def damaged_samples(draw: st.DrawFn) -> tuple[str, bytes]:
    """A valid file after some cuts, insertions and repetitions, sometimes gzipped."""
    format = draw(st.sampled_from(sorted(SAMPLES)))
    content = SAMPLES[format].encode("utf-8")
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 20)))
        inserted = draw(fragments | st.just(content[start:end] * 2))
        content = content[:start] + inserted + content[end:]
    if draw(st.integers(0, 9)) == 0:
        content = gzip.compress(content)[: draw(st.integers(0, 2000))]
    return format, content


def read_and_check(path: Path, format: str | None) -> None:
    """Both ways of reading agree on whether there is anything wrong."""
    error: FactloomError | None = None
    documents: list[Document] = []
    try:
        documents = list(formats.read(path, format))
    except FactloomError as caught:
        error = caught
    codes = {flaw.code for flaw in formats.check(path, format)}
    if error is None:
        assert codes <= BEYOND_READING
        write_back(path, documents)
    else:
        assert error.flaw.place.file == str(path)
        assert error.code in codes


def write_back(path: Path, documents: list[Document]) -> None:
    for format in formats.FORMATS:
        try:
            formats.write(documents, path.with_name("back"), format)
        except FactloomError:
            continue
        if format == "jsonl" and documents:
            assert list(formats.read(path.with_name("back"), format)) == documents


@thoroughly
@given(content=st.binary(max_size=60), format=st.sampled_from(FORMAT_NAMES))
def test_random_bytes(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, format: str | None
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(content)
    read_and_check(path, format)


@thoroughly
@given(damaged=damaged_samples(), tell=st.booleans())
def test_damaged_files(
    tmp_path_factory: pytest.TempPathFactory, damaged: tuple[str, bytes], tell: bool
) -> None:
    format, content = damaged
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(content)
    read_and_check(path, format if tell else None)


@st.composite
def changed_records(draw: st.DrawFn, original: dict[str, Any]) -> dict[str, Any]:
    """A valid record with a value somewhere inside it exchanged, added or removed."""
    record = copy.deepcopy(original)
    for _ in range(draw(st.integers(1, 3))):
        part: Any = record
        while True:
            keys = list(part) if isinstance(part, dict) else list(range(len(part)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(part[key], dict | list) and part[key] and draw(st.integers(0, 4)):
                part = part[key]
                continue
            if draw(st.booleans()):
                del part[key]
            else:
                part[key] = copy.deepcopy(draw(st.sampled_from((*ODD_VALUES, 1, 2, 99, "PER"))))
            break
    return record


@thoroughly
@given(record=changed_records(DOCRED_RECORD))
def test_docred_records_with_wrong_values(
    tmp_path_factory: pytest.TempPathFactory, record: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "file.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    read_and_check(path, "docred")


@thoroughly
@given(record=changed_records(json.loads(JSONL.split("\n")[0])))
def test_jsonl_records_with_wrong_values(
    tmp_path_factory: pytest.TempPathFactory, record: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "file.jsonl"
    path.write_text(json.dumps(record), encoding="utf-8")
    read_and_check(path, "jsonl")


@thoroughly
@given(
    lines=st.lists(
        st.lists(
            st.sampled_from(["1", "0", "3", "a", "D1", "D1,D2", "-", "", "CID", "é"]), max_size=7
        ),
        max_size=6,
    )
)
def test_pubtator_lines_with_wrong_columns(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "file"
    rows = ["\t".join(["1", *line]) for line in lines]
    path.write_text("\n".join(["1|t|a é", *rows]), encoding="utf-8")
    read_and_check(path, "pubtator")


@thoroughly
@given(
    changes=st.lists(
        st.tuples(
            st.integers(0, 80),
            st.sampled_from(["", "0", "9", "0:1", "a|b", "-", "1:NR:2", "2:CID:1", "not_include"]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_cdr_lines_with_wrong_columns(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, str]]
) -> None:
    columns = SAMPLES["cdr"].split("\n")[0].split("\t")
    for position, value in changes:
        columns[position % len(columns)] = value
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_text("\t".join(columns) + "\n", encoding="utf-8")
    read_and_check(path, "cdr")
