"""Plug-ins are named in a recipe: their order, their settings, and every mistake told."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from factloom.errors import Place, RecipeError
from factloom.training.plugin import Plugin
from factloom.training.plugins import make_plugins, plugin_names
from factloom.training.recipe import Recipe, read_recipe

CONFIGS = Path(__file__).parents[3] / "configs"
TRAINED = sorted(path for path in CONFIGS.glob("*.toml") if not path.stem.startswith("pretrain-"))
SMALLEST = """
[model]
kind = "atlop"
[data]
train = ["train.json"]
hold_out = 0.1
"""


def recipe(folder: Path, added: str = "", *overrides: str) -> Recipe:
    path = folder / "recipe.toml"
    path.write_text(SMALLEST + added, encoding="utf-8")
    return read_recipe(path, overrides)


def mistake(tables: dict[str, Any]) -> RecipeError:
    with pytest.raises(RecipeError) as caught:
        make_plugins(tables, Place(file="my.toml"))
    assert "my.toml" in str(caught.value)
    return caught.value


def settings_of(found: Recipe) -> list[tuple[str, dict[str, Any]]]:
    plugins = make_plugins(found.plugins)
    assert all(plugin.settings is not None for plugin in plugins)
    return [
        (type(plugin).__module__.split(".")[-1], plugin.settings.model_dump()) for plugin in plugins
    ]


def test_a_recipe_without_plugins_has_none(tmp_path: Path) -> None:
    assert make_plugins(recipe(tmp_path).plugins) == []


def test_an_empty_table_is_a_plugin_with_its_defaults(tmp_path: Path) -> None:
    found = settings_of(recipe(tmp_path, "[plugins.fgm]"))
    assert found == [("fgm", {"epsilon": 1.0, "embeddings": None})]


@pytest.mark.parametrize("order", [("swa", "fgm", "vat"), ("vat", "swa", "fgm")])
def test_the_order_of_the_file_is_the_order_of_the_plugins(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    tables = "\n".join(f"[plugins.{name}]" for name in order)
    assert [name for name, _ in settings_of(recipe(tmp_path, tables))] == list(order)


def test_overrides_change_settings_and_add_plugins(tmp_path: Path) -> None:
    found = recipe(
        tmp_path,
        "[plugins.pgd]\nsteps = 5",
        "plugins.pgd.epsilon=0.5",
        "plugins.fgm.epsilon=0.25",
        "plugins.swa={}",
    )
    pgd, fgm, swa = settings_of(found)
    assert (pgd[0], pgd[1]["steps"], pgd[1]["epsilon"]) == ("pgd", 5, 0.5)
    assert (fgm[0], fgm[1]["epsilon"]) == ("fgm", 0.25)
    assert swa[0] == "swa"
    assert recipe(tmp_path, "[plugins.pgd]", "plugins={}").plugins == {}


def test_an_unknown_plugin_is_told_with_those_there_are() -> None:
    error = mistake({"fgm": {}, "fgmm": {"epsilon": 1}})
    assert error.code == "unknown-plugin"
    assert "'fgmm'" in str(error)
    assert all(name in str(error) for name in ("fgm,", "fgsm", "pgd", "swa", "vat"))


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"pgd": {"step": 3}}, ["plugins.pgd.step:", "epsilon, alpha, steps, embeddings"]),
        ({"fgm": {"epsilon": 0}}, ["plugins.fgm.epsilon:", "greater than 0"]),
        ({"fgm": {"epsilon": "far"}}, ["plugins.fgm.epsilon:"]),
        ({"swa": {"start": 1.0, "cycle": 0}}, ["plugins.swa.start:", "plugins.swa.cycle:"]),
    ],
)
def test_a_wrong_setting_is_told_with_those_there_are(
    tables: dict[str, Any], told: list[str]
) -> None:
    error = mistake(tables)
    assert error.code == "plugin-setting"
    assert all(part in str(error) for part in told)


@pytest.mark.parametrize("added", ["[plugins]\nfgm = 1", "plugins = ['fgm']", "[plugin.fgm]"])
def test_a_plugin_that_is_no_table_is_told(tmp_path: Path, added: str) -> None:
    content = added + SMALLEST if added.startswith("plugins") else SMALLEST + added
    (tmp_path / "recipe.toml").write_text(content, encoding="utf-8")
    with pytest.raises(RecipeError, match="plugin") as caught:
        read_recipe(tmp_path / "recipe.toml")
    assert caught.value.code == "recipe-setting"


@pytest.mark.parametrize("name", plugin_names())
def test_every_file_is_a_plugin_that_can_be_described(name: str) -> None:
    module = importlib.import_module(f"factloom.training.plugins.{name}")
    assert issubclass(module.PLUGIN, Plugin)
    assert issubclass(module.SETTINGS, BaseModel)
    assert module.SETTINGS.model_config["frozen"]
    assert module.SETTINGS.model_config["extra"] == "forbid"
    assert all(field.description for field in module.SETTINGS.model_fields.values())


@pytest.mark.parametrize("path", TRAINED, ids=lambda path: path.stem)
def test_the_plugins_of_every_shipped_recipe_are_valid(path: Path) -> None:
    found = read_recipe(path)
    assert len(make_plugins(found.plugins, Place(file=str(path)))) == len(found.plugins)


def test_reading_a_recipe_with_plugins_does_not_load_torch(tmp_path: Path) -> None:
    recipe(tmp_path, "[plugins.fgm]")
    code = (
        "import sys; from factloom.training.recipe import read_recipe; "
        "import factloom.training.plugins as plugins; "
        f"read_recipe({str(tmp_path / 'recipe.toml')!r}); plugins.plugin_names(); "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
