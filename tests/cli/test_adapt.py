"""`factloom adapt`: what it passes on, and what it tells about rounds and pauses."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from factloom import formats
from factloom.cli import app
from factloom.document import Document
from factloom.training import adaptive_dictionary, reporting
from factloom.training.recipe import Recipe

RECIPE = """
[model]
kind = "positive_unlabelled"
width = 16
priors = {{ PER = 0.3 }}

[encoder]
name = "{encoder}"

[data]
train = ["{folder}/texts.jsonl"]

[training]
epochs = 1

[dictionary]
files = ["{folder}/PER.txt"]
"""


@pytest.fixture
def recipe(tmp_path: Path, tiny_encoder_path: Path) -> Path:
    texts = [Document("Mara met Nils .", id=f"d{number}") for number in range(4)]
    formats.write(texts, tmp_path / "texts.jsonl")
    (tmp_path / "PER.txt").write_text("Mara\n", encoding="utf-8")
    path = tmp_path / "small.toml"
    content = RECIPE.format(encoder=tiny_encoder_path, folder=tmp_path)
    path.write_text(content, encoding="utf-8")
    return path


def adapt(recipe: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["adapt", str(recipe), *options], catch_exceptions=False)


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the loops are made with; the first one pauses, the second comes to its end."""
    made: list[dict[str, Any]] = []
    rounds = [
        {"round": 1, "names": 4000, "new": 7, "development": {"f1": 0.5}, "report": {}},
        {"round": 2, "names": 4007, "new": 0, "development": {"f1": 0.75}, "report": {}},
    ]

    class FakeLoop:
        def __init__(self, recipe: Recipe, output: Path, **options: Any) -> None:
            made.append({"recipe": recipe, "output": output, **options})

        def run(self) -> dict[str, Any]:
            if made[-1]["pause"]:
                return {"rounds": rounds[:1], "paused": "out/round-01/entries.tsv"}
            return {"rounds": rounds}

    monkeypatch.setattr(adaptive_dictionary, "AdaptiveDictionary", FakeLoop)
    return made


def test_options_reach_the_loop(recipe: Path, loops: list[dict[str, Any]]) -> None:
    adapt(recipe, "--set", "dictionary.rounds=9")
    adapt(recipe, "--output", "out", "--resume", "--pause")
    assert loops[0]["recipe"].dictionary.rounds == 9
    assert [(loop["output"], loop["resume"], loop["pause"]) for loop in loops] == [
        (Path("runs/small"), False, False),
        (Path("out"), True, True),
    ]
    assert loops[1]["recipe_name"] == str(recipe)


@pytest.mark.usefixtures("loops")
def test_rounds_are_told_with_their_scores(recipe: Path) -> None:
    assert adapt(recipe, "--output", "out").stdout.splitlines() == [
        "round 1: 4,000 names, 7 new ones found",
        "  development: f1 50.0",
        "round 2: 4,007 names, 0 new ones found",
        "  development: f1 75.0",
        "model: out/best",
    ]


@pytest.mark.usefixtures("loops")
def test_a_pause_says_which_file_to_edit(recipe: Path) -> None:
    last = adapt(recipe, "--output", "out", "--pause").stdout.splitlines()[-1]
    assert last == "edit out/round-01/entries.tsv, then go on with --resume"


def test_without_development_documents_the_last_epoch_is_the_model(
    recipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "draw_curves", lambda *_: None)
    output = recipe.parent / "out"
    result = adapt(recipe, "--set", "dictionary.rounds=1", "--output", str(output))
    assert result.exit_code == 0
    assert "development:" not in result.stdout
    assert (output / "best" / "model.safetensors").is_file()
