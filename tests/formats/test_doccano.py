"""doccano's JSON lines, with relations and without, new and old."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_strategies import labels, searched
from factloom import formats
from factloom.document import Document, Entity, Mention, Relation
from factloom.files.source import Source
from factloom.formats import registry
from format_samples import DOCCANO_RECORDS

Records = list[dict[str, Any]]


def read_records(path: Path, records: Records) -> list[Document]:
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return list(formats.read(path, "doccano"))


def written_records(path: Path, documents: list[Document]) -> Records:
    formats.write(documents, path, "doccano")
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def test_entities_and_relations_are_read(tmp_path: Path) -> None:
    linked, labelled, bare = read_records(tmp_path / "a", DOCCANO_RECORDS)
    assert linked.id == "1"
    assert linked.mentions[1] == Mention(16, 22, "LOC", attributes={"id": 72})
    assert linked.entities == (Entity((0, 2), "PER"), Entity((1,), "LOC"))
    assert linked.relations == (
        Relation(0, 1, "born_in", attributes={"id": 5}),
        Relation(0, 1, "left", attributes={"id": 7}),
    )
    assert linked.attributes["Comments"] == []
    assert (labelled.mentions, labelled.entities) == (
        (Mention(0, 3, "PER"),),
        (Entity((0,), "PER"),),
    )
    assert (bare.text, bare.mentions) == ("Nothing", ())


@pytest.mark.parametrize(
    "records",
    [
        DOCCANO_RECORDS,
        [{"text": "Ada", "entities": [[0, 3, "PER"]], "username": "admin"}],
        [{"id": "x", "text": "Ada", "labels": [[0, 3, "PER"], [0, 3, "X"]]}],
        [{"text": "Ada", "entities": [{"label": "P", "start_offset": 0, "end_offset": 3}]}],
        [{"id": 4, "text": "Ada"}],
    ],
)
def test_round_trip_gives_back_the_same_objects(tmp_path: Path, records: Records) -> None:
    documents = read_records(tmp_path / "a", records)
    assert written_records(tmp_path / "b", documents) == records
    formats.write(documents, tmp_path / "c.jsonl")
    through_jsonl = list(formats.read(tmp_path / "c.jsonl"))
    assert through_jsonl == documents
    assert written_records(tmp_path / "d", through_jsonl) == records


@searched
@given(
    spans=st.lists(st.tuples(st.integers(0, 2), labels), min_size=1, max_size=4),
    relations=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from(["r", "s", "Coreference"])),
        max_size=5,
    ),
)
def test_any_record_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    spans: list[tuple[int, str]],
    relations: list[tuple[int, int, str]],
) -> None:
    count = len(spans)
    record = {
        "id": 1,
        "text": "a马\U0001f600",
        "entities": [
            {"id": 10 - n, "label": label, "start_offset": start, "end_offset": start + 1}
            for n, (start, label) in enumerate(spans)
        ],
        "relations": [
            {"id": n, "from_id": 10 - head % count, "to_id": 10 - tail % count, "type": kind}
            for n, (head, tail, kind) in enumerate(relations)
        ],
    }
    folder = tmp_path_factory.mktemp("doccano")
    assert written_records(folder / "b", read_records(folder / "a", [record])) == [record]


def test_entities_of_several_mentions_are_written_with_coreference(tmp_path: Path) -> None:
    document = Document(
        "Ada left. She rose.",
        "7",
        mentions=(Mention(0, 3, "PER"), Mention(10, 13, "PER", score=0.5)),
        entities=(Entity((0, 1), "PER"),),
        relations=(Relation(0, 0, "self", evidence=()),),
    )
    [record] = written_records(tmp_path / "a", [document])
    assert record == {
        "id": "7",
        "text": "Ada left. She rose.",
        "entities": [
            {"id": 0, "label": "PER", "start_offset": 0, "end_offset": 3},
            {"id": 1, "label": "PER", "start_offset": 10, "end_offset": 13},
        ],
        "relations": [
            {"from_id": 0, "to_id": 1, "type": "Coreference"},
            {"from_id": 0, "to_id": 0, "type": "self"},
        ],
    }
    [again] = read_records(tmp_path / "b", [record])
    assert (again.entities, again.relations) == (document.entities, document.relations)


def test_relations_of_the_source_do_not_outlive_a_change(tmp_path: Path) -> None:
    linked, labelled, _ = read_records(tmp_path / "a", DOCCANO_RECORDS)
    kept = linked.relations[1]
    changed = linked.replace(
        mentions=(*linked.mentions, Mention(8, 12, "X")),
        entities=(*linked.entities, Entity((3,), "X")),
        relations=(kept, Relation(2, 0, "new")),
    )
    joined = labelled.replace(relations=(Relation(0, 0, "self"),))
    first, second = written_records(tmp_path / "b", [changed, joined])
    assert first["entities"][3]["id"] == 0
    assert first["relations"] == [
        {"from_id": 71, "to_id": 75, "type": "Coreference"},
        {"from_id": 71, "to_id": 72, "type": "left", "id": 7},
        {"from_id": 0, "to_id": 71, "type": "new"},
    ]
    assert [second["entities"][0]["id"], second["relations"][0]["type"]] == [0, "self"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"entities": [{"label": "X", "start_offset": 0}]}, ("missing-key", "entities[0]")),
        (
            {"entities": [{"label": "X", "start_offset": 0, "end_offset": 99}], "relations": []},
            ("span-outside-text", "entities[0]"),
        ),
        (
            {"relations": [{"from_id": 71, "to_id": 9, "type": "r"}]},
            ("unknown-identifier", "relations[0]"),
        ),
        ({"entities": None}, ("wrong-type", "entities")),
        ({"text": 3}, ("wrong-type", "text")),
    ],
)
def test_flaw_names_the_path(
    tmp_path: Path, change: dict[str, Any], expected: tuple[str, str]
) -> None:
    path = tmp_path / "a"
    path.write_text(json.dumps({**DOCCANO_RECORDS[0], **change}), encoding="utf-8")
    found = [(flaw.code, flaw.place.part) for flaw in formats.check(path, "doccano")]
    assert expected in found
    assert {flaw.place.line for flaw in formats.check(path, "doccano")} == {1}


def test_identifier_of_two_entities_is_a_flaw(tmp_path: Path) -> None:
    record = json.loads(json.dumps(DOCCANO_RECORDS[0]))
    record["entities"][1]["id"] = 71
    record["relations"] = []
    path = tmp_path / "a"
    path.write_text(json.dumps(record), encoding="utf-8")
    found = [(flaw.code, flaw.place.part) for flaw in formats.check(path, "doccano")]
    assert found == [("repeated-identifier", "entities[1].id")]


@pytest.mark.parametrize(
    "record",
    [
        {"text": "a", "label": []},
        {"id": 1, "data": "a", "label": [[0, 1, "X"]]},
        {"text": "a", "entities": [[0, 1, "X"]]},
        {"id": 1, "text": "a", "entities": [], "relations": [], "Comments": []},
    ],
)
def test_layouts_are_recognised(tmp_path: Path, record: dict[str, Any]) -> None:
    path = tmp_path / "a"
    path.write_text(json.dumps(record), encoding="utf-8")
    assert registry.detect(Source(path)) == "doccano"
