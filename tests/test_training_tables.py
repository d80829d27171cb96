"""benchmarks/*_table.py: recipes that are valid, trained once each, and a table of their scores."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from factloom.models.storage import model_settings
from factloom.training import reporting
from factloom.training.plugins import make_plugins
from factloom.training.recipe import Recipe

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"

RECIPE = """
[model]
kind = "tagger"
[encoder]
name = "{encoder}"
[data]
train = ["{data}"]
hold_out = 0.2
[training]
epochs = 1
batch_size = 8
learning_rates = {{ "" = 1e-3 }}
"""


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("training_table")


def all_recipes(tables: ModuleType) -> list[Recipe]:
    reasoning = importlib.import_module("reasoning_table")
    names = importlib.import_module("names_table")
    every = [reasoning.START_TABLE, reasoning.TABLE]
    every += [tables.Table(Path("runs"), v, names.MEASURES) for v in names.VARIANTS.values()]
    return [table.recipe(name, 43, []) for table in every for name in table.variants]


def test_every_variant_is_a_valid_recipe_with_its_seed(tables: ModuleType) -> None:
    recipes = all_recipes(tables)
    assert len({recipe.model_dump_json() for recipe in recipes}) >= len(recipes) - 1  # AdaPU, bnPU
    for recipe in recipes:
        assert recipe.training.seed == 43
        model_settings(recipe.kind).model_validate(recipe.model_settings)
        make_plugins(recipe.plugins)


@pytest.mark.usefixtures("tables")
def test_each_way_to_train_reasoning_has_its_own_plugin_and_no_other() -> None:
    table = importlib.import_module("reasoning_table").TABLE
    recipes = {name: table.recipe(name, 43, []) for name in table.variants}
    assert {name: list(recipe.plugins) for name, recipe in recipes.items()} == {
        "atlop": [],
        "reasoning": [],
        "self_distillation": ["self_distillation"],
        "curriculum": ["self_distillation"],
        "r_drop": ["r_drop"],
        "distillation": ["distillation"],
    }
    (constant,) = make_plugins(recipes["self_distillation"].plugins)
    (growing,) = make_plugins(recipes["curriculum"].plugins)
    assert constant.settings == growing.settings.model_copy(update={"curriculum": "constant"})


@pytest.mark.usefixtures("tables")
def test_reasoning_starts_from_one_encoder_that_stays_as_it_is() -> None:
    table = importlib.import_module("reasoning_table").TABLE
    for recipe in (table.recipe(name, 43, []) for name in table.variants):
        assert recipe.encoder.name == "runs/reasoning-table/start-42/best"
        assert recipe.training.learning_rates["encoder"] == 0


def test_a_plugin_finds_the_model_of_another_variant(tables: ModuleType) -> None:
    (teacher,) = (
        recipe.plugins["distillation"]["teacher"]
        for recipe in all_recipes(tables)
        if "distillation" in recipe.plugins
    )
    assert teacher == "runs/reasoning-table/reasoning-43/best"


@pytest.mark.usefixtures("tables")
def test_settings_given_by_hand_come_after_those_of_the_variant() -> None:
    table = importlib.import_module("reasoning_table").TABLE
    changed = table.recipe("curriculum", 43, ["plugins.self_distillation.largest_rate=0.3"])
    assert changed.plugins == {"self_distillation": {"largest_rate": 0.3}}


def test_what_is_missing_is_trained_once_and_shown(
    tables: ModuleType,
    tiny_encoder_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(reporting, "draw_curves", lambda *_: None)
    monkeypatch.setattr(tables, "CONFIGS", tmp_path)
    recipe = RECIPE.format(encoder=tiny_encoder_path, data=EXAMPLES / "profiles-dev.jsonl")
    (tmp_path / "tiny.toml").write_text(recipe)
    table = tables.Table(
        folder=tmp_path / "runs",
        variants={
            "with a field": tables.Variant("tiny"),
            "without": tables.Variant("tiny", ('model.output="softmax"',)),
        },
        measures={"f1": "F1", "macro_f1": "macro F1"},
    )
    for seed in (1, 2):
        table.train_missing("with a field", seed, [])
    shown = table.shown(["with a field", "without"], [1, 2])
    first, _, row = shown.splitlines()
    assert first == "| model | seeds | F1 | macro F1 |"
    assert row.startswith("| with a field | 2 | ")
    assert row.count("±") == 2

    results = table.output("with a field", 1) / "results.json"
    before = results.stat().st_mtime_ns
    capsys.readouterr()
    table.train_missing("with a field", 1, ["training.batch_size=4"])
    assert results.stat().st_mtime_ns == before
    told = capsys.readouterr().out
    assert told == f"{results.parent} was trained with training.batch_size = 8, not 4\n"
    config = results.parent / "best" / "config.json"
    config.write_text(config.read_text().replace('"plugins": {}', '"plugins": {"fgm": {"old": 1}}'))
    table.train_missing("with a field", 1, ["plugins.fgm.epsilon=0.5"])
    assert capsys.readouterr().out == ""  # nothing that both have differs
    config.write_text(config.read_text().replace('"plugins": {"fgm": {"old": 1}}', '"plugins": {}'))
    table.train_missing("with a field", 1, ["plugins.fgm={}"])
    told = capsys.readouterr().out
    assert told == f"{results.parent} was trained with plugins = none, not fgm\n"
