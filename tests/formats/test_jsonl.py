import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_strategies import documents, searched
from factloom import formats
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import DocumentError, InputError
from format_samples import JSONL


def write_lines(path: Path, *records: object) -> Path:
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_line_becomes_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(JSONL, encoding="utf-8")
    document, chinese = formats.read(path)
    assert document == Document(
        text="Ada was born in London.",
        id="ada",
        sentences=(Sentence(0, 23, ((0, 3), (4, 7))),),
        mentions=(Mention(0, 3, "PER"), Mention(16, 22, "LOC", 0.9, "LONDON")),
        entities=(Entity((0,), "PER", "Q7259"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "P19", 0.75, (0,), {"model": "atlop"}),),
        candidates=((0, 1),),
        attributes={"year": 1815},
    )
    assert chinese == Document("马云出生于杭州。")


@searched
@given(originals=st.lists(documents(), min_size=1, max_size=3))
def test_any_document_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, originals: list[Document]
) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    formats.write(originals, path)
    assert list(formats.read(path)) == originals


def test_other_schema_version_is_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"factloom": 2, "text": "a", "novel": []})
    with pytest.raises(InputError, match="schema version 2") as caught:
        list(formats.read(path))
    assert caught.value.code == "wrong-schema"


@pytest.mark.parametrize(
    ("change", "code", "part"),
    [
        ({"factloom": "1"}, "wrong-type", "factloom"),
        ({"text": None}, "wrong-type", "text"),
        ({"titel": "a"}, "unknown-key", None),
        ({"mentions": [{"start": 0, "end": 1}]}, "missing-key", "mentions[0]"),
        ({"mentions": [{"start": 0, "end": 1.5, "type": "X"}]}, "wrong-type", "mentions[0].end"),
        ({"mentions": [{"start": 0, "end": 99, "type": "X"}]}, "span-outside-text", "mention 0"),
        ({"mentions": [{"start": 1, "end": 1, "type": "X"}]}, "span-outside-text", "mention 0"),
        ({"sentences": [{"start": 0, "end": 10**30}]}, "span-outside-text", "sentence 0"),
        ({"sentences": [{"start": 0, "end": 3, "tokens": [[0, 1, 2]]}]}, "wrong-type", None),
        ({"entities": [{"mentions": [], "type": "X"}]}, "empty-entity", "entity 0"),
        ({"entities": [{"mentions": [0], "type": "X"}]}, "dangling-mention", "entity 0"),
        ({"relations": [{"head": 0, "tail": 0, "type": "P"}]}, "dangling-entity", "relation 0"),
        ({"candidates": [[0, 1]]}, "dangling-entity", "candidate 0"),
        ({"denied": [{"head": 0, "tail": 0, "type": "P"}]}, "dangling-entity", "denied 0"),
        ({"denied": [{"head": 0, "tail": 0}]}, "missing-key", "denied[0]"),
        ({"annotated": "P19"}, "wrong-type", "annotated"),
        ({"unknown": [[0]]}, "wrong-type", "unknown[0]"),
        ({"unknown": None}, "wrong-type", "unknown"),
        (
            {"mentions": [{"start": 0, "end": 1, "type": "X", "kind": "verb"}]},
            "wrong-type",
            "mentions[0].kind",
        ),
        ({"attributes": []}, "wrong-type", "attributes"),
    ],
)
def test_wrong_content_is_named_with_line_document_and_part(
    tmp_path: Path, change: dict[str, Any], code: str, part: str | None
) -> None:
    good = {"factloom": 1, "text": "some text", "id": "b"}
    path = write_lines(tmp_path / "a.jsonl", good, {**good, "id": "c", **change})
    with pytest.raises(InputError) as caught:
        list(formats.read(path))
    place = caught.value.flaw.place
    assert (caught.value.code, place.file, place.line, place.document) == (code, str(path), 2, "c")
    assert part is None or place.part == part


def test_version_is_required(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"text": "a"}, "7", "[]")
    codes = [(flaw.code, flaw.place.line) for flaw in formats.check(path, "jsonl")]
    assert codes == [("missing-key", 1), ("wrong-type", 2), ("wrong-type", 3)]


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, "\ud83d"])
def test_attribute_without_a_json_form_cannot_be_written(tmp_path: Path, value: object) -> None:
    document = Document("a", id="b", attributes={"key": value})
    with pytest.raises(DocumentError, match="document 'b'"):
        formats.write([document], tmp_path / "a.jsonl")
    assert list(tmp_path.iterdir()) == []
