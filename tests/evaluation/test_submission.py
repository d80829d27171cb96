"""Files of predictions: DocRED submissions and documents."""

import json
from pathlib import Path
from typing import Any

import pytest

from factloom import formats
from factloom.document import Document, Relation
from factloom.errors import InputError
from factloom.evaluation.relations import Prediction, predictions_of
from factloom.evaluation.submission import read_predictions

ANSWER = {"title": "ada", "h_idx": 0, "t_idx": 1, "r": "born", "evidence": [0]}


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_a_submission_is_recognised_by_its_first_answer(tmp_path: Path) -> None:
    without = {key: value for key, value in ANSWER.items() if key != "evidence"}
    path = written(tmp_path / "result.json", [ANSWER, without, {**ANSWER, "score": -3.5}])
    assert list(read_predictions(path)) == [
        Prediction("ada", Relation(0, 1, "born", evidence=(0,))),
        Prediction("ada", Relation(0, 1, "born")),
        Prediction("ada", Relation(0, 1, "born", evidence=(0,))),
    ]


def test_an_empty_list_holds_no_predictions(tmp_path: Path) -> None:
    assert list(read_predictions(written(tmp_path / "result.json", []))) == []


@pytest.mark.parametrize(
    ("name", "format"),
    [("out.jsonl", None), ("out.json", "docred"), ("out.json", "docred-submission")],
)
def test_what_factloom_writes_is_read_back(
    ada: Document, tmp_path: Path, name: str, format: str | None
) -> None:
    formats.write([ada], tmp_path / name, format)
    assert [
        (found.document, found.triple, found.relation.evidence)
        for found in read_predictions(tmp_path / name)
    ] == [
        (found.document, found.triple, found.relation.evidence) for found in predictions_of([ada])
    ]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"h_idx": "0"}, "wrong-type"),
        ({"h_idx": True}, "wrong-type"),
        ({"evidence": [0.5]}, "wrong-type"),
        ({"title": None}, "wrong-type"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    tmp_path: Path, change: dict[str, Any], code: str
) -> None:
    path = written(tmp_path / "result.json", [ANSWER, {**ANSWER, **change}])
    with pytest.raises(InputError, match=f"record 1, {next(iter(change))}") as raised:
        list(read_predictions(path))
    assert raised.value.code == code


def test_a_missing_key_is_named_with_its_place(tmp_path: Path) -> None:
    path = written(tmp_path / "result.json", [ANSWER, {"title": "ada", "h_idx": 0, "t_idx": 1}])
    with pytest.raises(InputError, match="record 1") as raised:
        list(read_predictions(path))
    assert raised.value.code == "missing-key"
