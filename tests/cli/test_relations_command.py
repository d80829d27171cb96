"""`factloom relations`: known from a model's folder, without loading it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from factloom.cli import app
from factloom.cli.relations import types_in_words
from factloom.errors import FactloomError
from factloom.model_folders import SHIPPED, read_config
from factloom.stored_models import shipped_models

CONFIG = {
    "model": "atlop",
    "relations": ["P19", "P1"],
    "relation_names": {"P19": "place of birth", "P2": "never learned"},
    "settings": {"type_constraints": {"P19": [["PER", "LOC"], ["MISC", "LOC"]]}},
    "provenance": {},
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["relations", *map(str, arguments)])


def test_relations_are_listed_with_names_and_types(model: Path) -> None:
    result = run("--model", model)
    assert result.exit_code == 0, result.exception
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[1:] == ["P19 place of birth MISC PER -> LOC", "P1 P1 any -> any"]


def test_a_file_of_thresholds_is_shown_with_them(model: Path) -> None:
    thresholds = model / "own.toml"
    thresholds.write_text(
        'minimum_score = 0.4\n[thresholds]\nP19 = 0.6\n[type_constraints]\nP19 = [["PER", "LOC"]]\n'
    )
    result = run("--model", model, "--thresholds", thresholds, "--json")
    first, second = map(json.loads, result.stdout.splitlines())
    assert first == {
        "id": "P19",
        "name": "place of birth",
        "type_pairs": [["PER", "LOC"]],
        "least_score": 0.6,
    }
    assert (second["type_pairs"], second["least_score"]) == (None, 0.4)


def test_a_model_without_relations_says_so(model: Path) -> None:
    (model / "config.json").write_text(json.dumps({"model": "tagger", "types": ["PER"]}))
    result = run("--model", model)
    assert isinstance(result.exception, FactloomError)
    assert result.exception.code == "finds-no-relations"


def test_heads_with_the_same_tails_stand_together() -> None:
    pairs = [("LOC", "PER"), ("ORG", "PER"), ("PER", "LOC"), ("PER", "PER")]
    assert types_in_words(pairs) == "LOC ORG -> PER, PER -> LOC PER"


def test_the_relations_of_the_model_that_ships_are_listed_without_torch() -> None:
    code = (
        "import sys; from factloom.cli import app\n"
        "try: app(['relations', '--json'])\n"
        "finally: print('torch' in sys.modules)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    *lines, torch = finished.stdout.splitlines()
    assert torch == "False"
    found = {relation["id"]: relation for relation in map(json.loads, lines)}
    own = (read_config(SHIPPED / name)["relations"] for name in shipped_models())
    assert set(found) == {relation for relations in own for relation in relations}
    assert found["P19"]["name"] == "place of birth"
    assert ["PER", "LOC"] in found["P19"]["type_pairs"]
