"""Label Studio's export: which annotation counts, its regions and relations, and the way back."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from factloom import formats
from factloom.document import Document, Entity, Mention, Relation
from format_samples import LABEL_STUDIO_TASKS

Tasks = list[dict[str, Any]]


def read_tasks(path: Path, tasks: Tasks) -> list[Document]:
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return list(formats.read(path, "label-studio"))


def written_tasks(path: Path, documents: list[Document]) -> Tasks:
    formats.write(documents, path, "label-studio")
    return list(json.loads(path.read_text(encoding="utf-8")))


def task(text: str, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"data": {"text": text}, "annotations": [{"result": list(results)}], **more}


def region(start: int, end: int, text: str | None = None, name: str = "a") -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": ["X"]}
    return {"id": name, "type": "labels", "value": value | ({"text": text} if text else {})}


def test_regions_and_relations_of_the_first_annotation_that_counts(tmp_path: Path) -> None:
    first, second = read_tasks(tmp_path / "a", LABEL_STUDIO_TASKS)
    assert (first.id, first.text[:3]) == ("31", "Ada")
    assert first.mentions == (
        Mention(0, 3, "PER", attributes={"id": "a"}),
        Mention(0, 3, "WRITER", attributes={"id": "a"}),
        Mention(16, 22, "LOC", attributes={"id": "b"}),
        Mention(24, 27, "PER", attributes={"id": "c"}),
    )
    assert [entity.mentions for entity in first.entities] == [(0, 3), (1,), (2,)]
    # The second one points to the left and has no label.
    assert first.relations == (Relation(0, 2, "born_in"), Relation(0, 2, "relation"))
    assert (second.text, second.mentions[0].score) == ("No text of that name", 0.75)


def test_round_trip_gives_back_the_same_objects(tmp_path: Path) -> None:
    documents = read_tasks(tmp_path / "a", LABEL_STUDIO_TASKS)
    assert written_tasks(tmp_path / "b", documents) == LABEL_STUDIO_TASKS
    formats.write(documents, tmp_path / "c.jsonl")
    through_jsonl = list(formats.read(tmp_path / "c.jsonl"))
    assert through_jsonl == documents
    assert written_tasks(tmp_path / "d", through_jsonl) == LABEL_STUDIO_TASKS


def test_document_is_written_as_an_annotation_and_read_back(tmp_path: Path) -> None:
    document = Document(
        "Ada left. She rose.",
        "ada",
        mentions=(Mention(0, 3, "PER"), Mention(10, 13, "PER", name="she"), Mention(4, 8, "X")),
        entities=(Entity((0, 1), "PER"), Entity((2,), "X")),
        relations=(Relation(1, 0, "by"),),
    )
    [written] = written_tasks(tmp_path / "a", [document])
    assert written["data"] == {"text": "Ada left. She rose.", "document": "ada"}
    [annotation] = written["annotations"]
    assert annotation["result"][0] == {
        "id": "m0",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": {"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]},
    }
    assert [result["labels"] for result in annotation["result"][3:]] == [["Coreference"], ["by"]]
    [again] = formats.read(tmp_path / "a")
    assert again.id == "ada"
    assert (again.entities, again.relations) == (document.entities, document.relations)
    assert again.mentions[1].name == "she"


def test_what_has_scores_is_a_prediction(tmp_path: Path) -> None:
    first, _ = read_tasks(tmp_path / "a", LABEL_STUDIO_TASKS)
    predicted = first.replace(
        mentions=(Mention(0, 3, "PER", score=0.5),), entities=(), relations=()
    )
    [written] = written_tasks(tmp_path / "b", [predicted])
    assert (written["id"], written["annotations"]) == (31, [])
    assert written["data"] == LABEL_STUDIO_TASKS[0]["data"]
    [result] = written["predictions"][0]["result"]
    assert (result["score"], result["from_name"], result["to_name"]) == (0.5, "entity", "content")
    [again] = formats.read(tmp_path / "b")
    assert [mention.score for mention in again.mentions] == [0.5]


def test_changed_annotation_takes_the_place_of_all_others(tmp_path: Path) -> None:
    tasks = copy.deepcopy(LABEL_STUDIO_TASKS[:1])
    tasks[0]["completions"] = [{"result": []}]
    [document] = read_tasks(tmp_path / "a", tasks)
    changed = document.replace(relations=document.relations[:1])
    [written] = written_tasks(tmp_path / "b", [changed])
    assert "completions" not in written
    assert len(written["annotations"]) == 1
    [again] = formats.read(tmp_path / "b", "label-studio")
    assert again.relations == changed.relations


@pytest.mark.parametrize("units", ["characters", "UTF-16"])
def test_offsets_of_browsers_are_understood(tmp_path: Path, units: str) -> None:
    text = "\U0001f600\U0001f600 Ada left"
    shift = 2 if units == "UTF-16" else 0
    tasks = [task(text, region(3 + shift, 6 + shift, "Ada"))]
    [document] = read_tasks(tmp_path / "a", tasks)
    assert (document.mention_text(0), document.mentions[0].name) == ("Ada", None)
    assert written_tasks(tmp_path / "b", [document]) == tasks


@pytest.mark.parametrize(
    ("direction", "expected"),
    [("right", {(0, 1)}), ("left", {(1, 0)}), ("bi", {(0, 1), (1, 0)}), (None, {(0, 1)})],
)
def test_direction_says_which_end_is_the_head(
    tmp_path: Path, direction: str | None, expected: set[tuple[int, int]]
) -> None:
    link = {"type": "relation", "from_id": "a", "to_id": "b", "labels": ["r", "s"]}
    drawn = link if direction is None else link | {"direction": direction}
    tasks = [task("ab", region(0, 1), region(1, 2, name="b"), drawn)]
    [document] = read_tasks(tmp_path / "a", tasks)
    assert {(r.head, r.tail) for r in document.relations if r.type == "r"} == expected
    assert len(document.relations) == 2 * len(expected)
    assert written_tasks(tmp_path / "b", [document]) == tasks


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"data": {}}, ("no-text", "data")),
        ({"data": {"a": "x", "b": "y"}}, ("no-text", "data")),
        ({"annotations": []}, ("missing-key", "")),
        (task("a", region(0, 9)), ("span-outside-text", "annotations[0].result[0]")),
        (
            task("a", region(0, 1), region(0, 1)),
            ("repeated-identifier", "annotations[0].result[1].id"),
        ),
        (
            task("a", {"id": "a", "type": "labels", "value": {"start": 0, "end": 1}}),
            ("missing-key", "annotations[0].result[0].value"),
        ),
        (
            task("a", {**region(0, 1), "value": {"start": 0, "end": 1, "labels": []}}),
            ("wrong-field", "annotations[0].result[0].value.labels"),
        ),
        (
            task("a", {"type": "relation", "from_id": "a", "to_id": "b"}),
            ("unknown-identifier", "annotations[0].result[0]"),
        ),
        (
            {**task("a"), "annotations": [{"result": []}, {"result": []}]},
            ("several-annotations", "annotations"),
        ),
        (
            {"data": {"text": "a"}, "predictions": [12, {"result": [region(0, 9)]}]},
            ("span-outside-text", "predictions[1].result[0]"),
        ),
        (
            {"data": {"text": "a"}, "predictions": ["12"]},
            ("wrong-type", "predictions[0]"),
        ),
    ],
)
def test_flaw_names_the_path(
    tmp_path: Path, found: dict[str, Any], expected: tuple[str, str]
) -> None:
    path = tmp_path / "a"
    path.write_text(json.dumps([found]), encoding="utf-8")
    code, part = expected
    flaws = [(flaw.code, flaw.place.part) for flaw in formats.check(path, "label-studio")]
    assert flaws == [(code, ", ".join(filter(None, ("record 0", part))))]


def test_predictions_named_by_number_are_passed_over_and_kept(tmp_path: Path) -> None:
    whole = {"id": 14, "result": [region(0, 1)]}
    tasks = [
        task("a b", region(2, 3), predictions=[12, 13]),
        {"data": {"text": "c"}, "annotations": [], "predictions": [12, whole]},
        {"data": {"text": "d"}, "annotations": [], "predictions": [12]},
    ]
    documents = read_tasks(tmp_path / "a", tasks)
    found = [(m.start, m.end) for document in documents for m in document.mentions]
    assert found == [(2, 3), (0, 1)]
    assert written_tasks(tmp_path / "b", documents) == tasks


def test_score_that_is_no_probability_is_not_taken_for_one(tmp_path: Path) -> None:
    [document] = read_tasks(tmp_path / "a", [task("a", region(0, 1) | {"score": 87.5})])
    assert document.mentions[0].score is None
