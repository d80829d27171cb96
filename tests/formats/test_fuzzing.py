"""Whatever the bytes are: Documents or a FactloomError, and `check` always comes to its end."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from document_strategies import ODD_CHARACTERS, ODD_VALUES, searched
from factloom import formats
from factloom.document import Document
from factloom.errors import FactloomError
from factloom.files.report import WARNINGS
from format_samples import (
    CLUENER_RECORDS,
    CMEEE_RECORDS,
    DOCCANO_RECORDS,
    DOCRED_RECORD,
    GENIA_RECORDS,
    HOTPOTQA_RECORDS,
    JSONL,
    LABEL_STUDIO_TASKS,
    MRC_RECORDS,
    MUSIQUE_RECORDS,
    NQ_OPEN_RECORDS,
    OFFSETS_RECORDS,
    SAMPLES,
    SQUAD_RECORD,
    write_sample,
)

FORMAT_NAMES = (*formats.READABLE, None)
BEYOND_READING = WARNINGS | {"mention-across-sentences", "repeated-document"}
# In PubTator two entities with one identifier are one, with each of their relations twice.
READABLE_AGAIN = set(formats.READABLE) - {"pubtator"}
RECORDS = {
    "docred": DOCRED_RECORD,
    "jsonl": json.loads(JSONL.split("\n")[0]),
    "mrc": MRC_RECORDS[1],
    "genia": GENIA_RECORDS[0],
    "cluener": CLUENER_RECORDS[0],
    "cmeee": CMEEE_RECORDS[0],
    "offsets": OFFSETS_RECORDS[0],
    "doccano": DOCCANO_RECORDS[0],
    "label-studio": LABEL_STUDIO_TASKS[0],
    "squad": SQUAD_RECORD,
    "hotpotqa": HOTPOTQA_RECORDS[0],
    "musique": MUSIQUE_RECORDS[0],
    "nq-open": NQ_OPEN_RECORDS[1],
}
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
        assert (error.flaw.place.file or "").startswith(str(path))  # or the text beside it
        assert error.code in codes


def write_back(path: Path, documents: list[Document]) -> None:
    """Every format takes the documents or says why not; what it has written can be read."""
    for format in formats.FORMATS:
        back = path.with_name(f"back-{format}")
        try:
            formats.write(documents, back, format)
        except FactloomError:
            continue
        blank = not any(document.text.strip() for document in documents)
        # an empty text makes an empty file, and a name of white space is one only as a token
        if format in READABLE_AGAIN and not blank and not any(map(blank_name, documents)):
            found = list(formats.read(back, format))
            assert format != "jsonl" or found == documents


def blank_name(document: Document) -> bool:
    return any(document.mention_text(index).isspace() for index in range(len(document.mentions)))


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
    path = write_sample(tmp_path_factory.mktemp("fuzz") / "file", format, content)
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


@pytest.mark.parametrize("format", RECORDS)
@searched
@given(data=st.data())
def test_records_with_wrong_values(
    tmp_path_factory: pytest.TempPathFactory, format: str, data: st.DataObject
) -> None:
    record = data.draw(changed_records(RECORDS[format]))
    path = tmp_path_factory.mktemp("fuzz") / "file.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    read_and_check(path, format)


@thoroughly
@given(
    lines=st.lists(
        st.lists(st.sampled_from(["O", "B-X", "I-X", "E-Y", "#", "a", "-DOCSTART-", "", "马"])),
        max_size=6,
    ),
    delimiter=st.sampled_from([" ", "\t", "  "]),
)
def test_conll_lines_with_wrong_columns(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]], delimiter: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_text("\n".join(delimiter.join(line) for line in lines) + "\n.", encoding="utf-8")
    read_and_check(path, "conll")


BRAT_WORDS = ["T1", "T2", "R1", "E1", "*", "A1", "N1", "#1", "X 0 1", "X 0 1;2 3", "Arg1:T1", ""]


@thoroughly
@given(
    lines=st.lists(
        st.lists(
            st.sampled_from([*BRAT_WORDS, "Equiv T1 T2", "r a:T1 b:T2", "n T1 v"]), max_size=4
        ),
        max_size=6,
    )
)
def test_brat_lines_with_wrong_columns(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]]
) -> None:
    rows = ["T1\tX 0 3\tAda", *("\t".join(line) for line in lines)]
    path = tmp_path_factory.mktemp("fuzz") / "file"
    write_sample(path, "brat", "\n".join(rows).encode("utf-8"))
    read_and_check(path, "brat")


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
