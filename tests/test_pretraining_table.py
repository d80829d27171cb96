"""benchmarks/pretraining_table.py: every objective has a valid recipe; a small table is made."""

import importlib
import json
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

from factloom.errors import Place
from factloom.objectives import objective_kinds, objective_settings
from factloom.training import reporting
from factloom.training.recipe import validated

ROOT = Path(__file__).parent.parent
SMALL = (
    "network.layers=1",
    "network.width=8",
    "network.heads=2",
    "encoder.window=16",
    "training.steps=2",
    "training.batch_size=4",
    "training.validate_every_steps=2",
)


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.setattr(reporting, "draw_curves", lambda *_: None)
    return importlib.import_module("pretraining_table")


def test_every_objective_has_a_recipe_of_the_same_network(tables: ModuleType) -> None:
    table = tables.PretrainingTable(Path("runs"))
    recipes = {name: table.recipe(name, 43, []) for name in tables.VARIANTS}
    assert {recipe.kind for recipe in recipes.values()} == set(objective_kinds())
    for recipe in recipes.values():
        validated(objective_settings(recipe.kind), recipe.objective_settings, Place())
        assert recipe.network is not None
        assert (recipe.network.layers, recipe.network.width) == (4, 256)
        assert recipe.training.seed == 43
        assert recipe.data.tokenised == "runs/text"
    assert len({table.output(name, 1) for name in tables.VARIANTS}) == len(tables.VARIANTS)


def test_what_is_missing_is_trained_once_and_shown(
    tables: ModuleType,
    tiny_encoder_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join(["She was born in Torvik and studied at Halden. " * 3] * 20))
    changes = [*SMALL, f'encoder.name="{tiny_encoder_path}"', f'data.text=["{text}"]']
    names = ["masked", "mass", "causal, Transformer-XL"]
    chosen = [word for name in names for word in ("--only", name)]
    chosen += [word for change in changes for word in ("--set", change)]
    command = ["pretraining_table.py", "--folder", str(tmp_path / "runs"), "--seeds", "1"]
    monkeypatch.setattr(sys, "argv", [*command, *chosen])
    tables.main()
    heading, _, *rows, entropy = capsys.readouterr().out.splitlines()[-6:]
    assert heading.startswith("| objective | seeds | steps | loss |")
    assert [row.split(" | ")[0].strip("| ") for row in rows] == names
    assert float(entropy.split()[-1]) < math.log(100)

    monkeypatch.setattr(sys, "argv", [*command, *chosen, "--json"])
    tables.main()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]  # nothing trained
    assert [line["objective"] for line in lines] == names
    for line in lines:
        assert line["steps"] == 2
        assert line["loss"] > 0
        assert line["tokens_per_second"] > 0


def test_a_tagger_is_trained_over_each_encoder_and_over_none(
    tables: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join(["She was born in Torvik and studied at Halden. " * 3] * 20))
    tagged = tmp_path / "all.txt"
    words = ("She O", "was O", "born O", "in O", "Torvik B-LOC", ". O")
    tagged.write_text("\n\n".join(["\n".join(words)] * 200) + "\n")
    monkeypatch.setattr(tables, "TAGGED", str(tagged))
    of_tagger = (
        "encoder.overlap=4",
        "data.report=[]",
        "data.hold_out=0.2",
        "data.join_words=12",
        "training.epochs=1",
    )
    command = ["pretraining_table.py", "--folder", str(tmp_path / "runs"), "--seeds", "1"]
    command += ["--vocabulary", "60", "--tagger", "--only", tables.NOTHING, "--only", "masked"]
    command += [word for change in (*SMALL, f'data.text=["{text}"]') for word in ("--set", change)]
    command += [word for change in of_tagger for word in ("--set-tagger", change)]
    monkeypatch.setattr(sys, "argv", command)
    tables.main()
    sentences = (tmp_path / "runs" / "tagged.txt").read_text().split("\n\n")
    assert len(sentences) == 20
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", [*command, "--json"])
    tables.main()
    nothing, masked = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (nothing["objective"], masked["objective"]) == (tables.NOTHING, "masked")
    assert 0 <= nothing["tagger"] <= 1
    assert 0 <= masked["tagger"] <= 1
    assert "loss" not in nothing
    assert masked["loss"] > 0
