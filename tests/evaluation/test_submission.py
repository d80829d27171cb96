"""DocRED submissions: how they are told, read, and what is wrong with them."""

import json
from pathlib import Path
from typing import Any

import pytest

from factloom import formats
from factloom.document import Document, Relation
from factloom.errors import InputError
from factloom.evaluation.relations import Prediction, predictions_of
from factloom.evaluation.submission import is_submission, read_submission
from factloom.files.source import Source

ANSWER = {"title": "ada", "h_idx": 0, "t_idx": 1, "r": "born", "evidence": [0]}


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_a_submission_is_recognised_by_its_first_answer(tmp_path: Path) -> None:
    without = {key: value for key, value in ANSWER.items() if key != "evidence"}
    path = written(tmp_path / "result.json", [ANSWER, without, {**ANSWER, "score": -3.5}])
    assert is_submission(Source(path))
    assert list(read_submission(Source(path))) == [
        Prediction("ada", Relation(0, 1, "born", evidence=(0,))),
        Prediction("ada", Relation(0, 1, "born")),
        Prediction("ada", Relation(0, 1, "born", evidence=(0,))),
    ]


def test_an_empty_list_holds_no_predictions(tmp_path: Path) -> None:
    source = Source(written(tmp_path / "result.json", []))
    assert is_submission(source)
    assert list(read_submission(source)) == []


@pytest.mark.parametrize("format", ["jsonl", "docred"])
def test_documents_are_no_submission(ada: Document, tmp_path: Path, format: str) -> None:
    formats.write([ada], tmp_path / "out", format)
    assert not is_submission(Source(tmp_path / "out"))


def test_what_factloom_writes_is_read_back(ada: Document, tmp_path: Path) -> None:
    formats.write([ada], tmp_path / "out.json", "docred-submission")
    assert [
        (found.document, found.triple, found.relation.evidence)
        for found in read_submission(Source(tmp_path / "out.json"))
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
        list(read_submission(Source(path)))
    assert raised.value.code == code


def test_a_missing_key_is_named_with_its_place(tmp_path: Path) -> None:
    path = written(tmp_path / "result.json", [ANSWER, {"title": "ada", "h_idx": 0, "t_idx": 1}])
    with pytest.raises(InputError, match="record 1") as raised:
        list(read_submission(Source(path)))
    assert raised.value.code == "missing-key"
