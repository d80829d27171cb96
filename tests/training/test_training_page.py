"""docs/training.md says what is so: its code runs, its tables are complete."""

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from pydantic import BaseModel
from toy_model import ToyModel, toy_examples

from factloom import formats
from factloom.document import Document
from factloom.training import plugins
from factloom.training.plugin import Plugin
from factloom.training.plugins import plugin_names
from factloom.training.recipe import DataRecipe, EncoderRecipe, Recipe
from factloom.training.settings import FREE_ON_RESUME, TrainingSettings

PAGE = Path(__file__).parents[2] / "docs" / "training.md"
TEXT = PAGE.read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table in a section."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
def test_code_blocks_run(
    block: str,
    tiny_encoder_path: Path,
    profiles: list[Document],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    formats.write(profiles[:2], Path("train.jsonl"))
    code = block.replace("all-MiniLM-L6-v2", str(tiny_encoder_path))
    exec(compile(code, str(PAGE), "exec"), {"model": ToyModel(), "examples": toy_examples(9)})
    assert list(tmp_path.glob("runs/*/best/model.safetensors"))


def test_the_table_of_settings_has_every_setting_with_its_default() -> None:
    documented = {name.strip("`"): default.strip("`") for name, default, _ in rows("Settings")}
    real = {name: shown(field.default) for name, field in TrainingSettings.model_fields.items()}
    assert list(documented) == list(real)
    assert {name: _number(value) for name, value in documented.items()} == {
        name: _number(value) for name, value in real.items()
    }


def test_the_tables_of_data_and_encoder_have_every_setting_with_its_default() -> None:
    documented = [(row[0].strip("`"), row[1].strip("`")) for row in rows("Data and encoder")]
    fields = DataRecipe.model_fields | EncoderRecipe.model_fields
    assert documented == [
        (name, "" if field.is_required() else shown(field.default))
        for name, field in fields.items()
    ]


def settings_of(plugin: str) -> type[BaseModel]:
    return import_module(f"{plugins.__name__}.{plugin}").SETTINGS


def shown(default: object) -> str:
    return "none" if default is None else str(default).replace("'", '"')


def _number(text: str) -> object:
    """1e-6 and 1e-06 are the same."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def test_the_settings_that_may_change_on_resume_are_named() -> None:
    section = TEXT.split("## Resuming\n")[1].split("\n## ")[0]
    for name in FREE_ON_RESUME:
        assert name in section or name.startswith("checkpoint_every_")


def test_the_table_of_hooks_has_every_hook_in_order() -> None:
    hooks = [name for name in vars(Plugin) if name.startswith(("on_", "before_", "after_"))]
    documented = [row[0].strip("`").split("(")[0] for row in rows("Plug-ins of your own")]
    assert documented == hooks


def test_the_table_of_plugins_has_every_plugin() -> None:
    assert sorted(row[0].strip("`") for row in rows("Plug-ins") if len(row) == 4) == plugin_names()


def test_the_table_of_plugin_settings_has_every_setting_with_its_default() -> None:
    documented = {row[0].strip("`"): row[1].strip("`") for row in rows("Plug-ins") if len(row) == 3}
    real = {
        f"{plugin}.{name}": "required" if field.is_required() else shown(field.default)
        for plugin in plugin_names()
        for name, field in import_module(
            f"{plugins.__name__}.{plugin}"
        ).SETTINGS.model_fields.items()
    }
    assert documented == real


@pytest.mark.parametrize("block", re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL))
def test_pieces_of_recipes_are_valid(block: str) -> None:
    data = {"train": ["train.jsonl"], "hold_out": 0.1}
    content = {"model": {"kind": "atlop"}, "data": data, **tomllib.loads(block)}
    recipe = Recipe.model_validate(content)
    assert len(plugins.make_plugins(recipe.plugins)) == block.count("[plugins.")
