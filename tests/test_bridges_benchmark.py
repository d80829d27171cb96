"""benchmarks/bridges.py and bridge_heads.py in small: a few documents, a JSON line."""

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest
from torch import get_num_threads

from factloom.document import Relation

ROOT = Path(__file__).parent.parent


@pytest.fixture
def bridges(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for folder in ("examples", "benchmarks"):
        monkeypatch.syspath_prepend(ROOT / folder)
    return importlib.import_module("bridges")


def named(relation: Relation) -> dict[str, object]:
    """The bridge as a model's provenance names it."""
    bridge, pattern = relation.attributes["bridge"], relation.attributes["pattern"]
    return {"entity": bridge, "pattern": pattern, "weight": 0.9}


def test_a_model_is_trained_and_reported_as_one_json_line(
    bridges: ModuleType, tiny_encoder_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ("--train", "8", "--dev", "2", "--test", "6", "--epochs", "1")
    bridges.main(["--models", "atlop", "--encoder", str(tiny_encoder_path), *sizes])
    (line,) = capsys.readouterr().out.splitlines()
    result = json.loads(line)
    assert result["model"] == "atlop"
    assert result["explained"] is None
    assert result["derived_accuracy_by_pattern"].keys() == {"1", "2", "3", "4"}
    assert 0 <= result["derived_f1"] <= 1
    assert 0 <= result["stated_f1"] <= 1


def test_scores_are_those_of_the_derived_relations(bridges: ModuleType) -> None:
    gold = bridges.bridge_documents(6, 1, "dev")
    # all of pattern 1 found, with the right bridge; nothing else, not even premises
    predicted = [
        document.replace(
            relations=tuple(
                Relation(r.head, r.tail, r.type, provenance={"bridges": [named(r)]})
                for r in document.relations
                if r.type == "taxed by"
            )
        )
        for document in gold
    ]
    found = bridges.scores(gold, predicted)
    assert found["derived_accuracy_by_pattern"] == {1: 1.0, 2: 0.0, 3: 0.0, 4: 0.0}
    assert 0 < found["derived_accuracy"] < 1
    assert found["explained"] == 1
    assert found["stated_f1"] == 0
    assert bridges.scores(gold, gold)["stated_f1"] == 1


def test_a_wrong_bridge_explains_nothing(bridges: ModuleType) -> None:
    (gold,) = bridges.bridge_documents(1, 1, "dev")
    wrong = {"entity": -1, "pattern": 1, "weight": 0.9}
    derived = [r for r in gold.relations if r.type in bridges.DERIVED]
    predicted = gold.replace(
        relations=tuple(
            Relation(r.head, r.tail, r.type, provenance={"bridges": [wrong]}) for r in derived
        )
    )
    assert derived
    assert bridges.explained([gold], [predicted]) == 0
    assert bridges.explained([gold], [gold]) is None


@pytest.mark.usefixtures("bridges")
def test_heads_are_silenced_and_left_out_one_by_one(
    tiny_encoder_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ("--train", "8", "--test", "6", "--epochs", "1", "--threads", f"{get_num_threads()}")
    heads = importlib.import_module("bridge_heads")
    heads.main(["--encoder", str(tiny_encoder_path), *sizes])
    result = json.loads(capsys.readouterr().out)
    assert 0 <= result["precision"] <= 1
    assert result["all"].keys() == {"1", "2", "3", "4"}
    for removed in ("silenced", "without"):
        assert result[removed].keys() == {"1", "2", "3", "4"}
        assert all(0 <= part <= 1 for row in result[removed].values() for part in row.values())
