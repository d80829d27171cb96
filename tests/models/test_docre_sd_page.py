"""docs/docre_sd.md says what is so: its tables are complete, its commands right."""

import json
import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from factloom.models.docre_sd import DocreSdSettings
from factloom.training.plugins.distillation import DistillationSettings
from factloom.training.plugins.r_drop import RDropSettings
from factloom.training.plugins.self_distillation import SelfDistillationSettings
from factloom.training.recipe import read_recipe

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "docre_sd.md").read_text(encoding="utf-8")
MODEL = "setting (`[model]`)"


def rows(heading: str) -> list[tuple[str, str]]:
    """Settings and defaults of a table."""
    lines = TEXT.split(f"| {heading} | default | meaning |")[1].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(names, defaults.strip("`")) for names, defaults, *_ in cells]


def test_the_settings_of_self_distillation_have_their_defaults() -> None:
    documented = {
        name.strip(" `"): json.loads("null" if default.strip() == "none" else default)
        for names, defaults in rows("setting")
        for name, default in zip(names.split(","), defaults.split(","), strict=True)
    }
    fields = SelfDistillationSettings.model_fields.items()
    assert documented == {name: field.default for name, field in fields}


def test_the_settings_of_the_model_have_their_defaults() -> None:
    documented = {name.strip("`"): json.loads(default) for name, default in rows(MODEL)}
    fields = json.loads(DocreSdSettings().model_dump_json())
    assert documented == {name: fields[name] for name in documented}
    shared = TEXT.split("are those of [ATLOP]")[0].rpartition("\n\n")[2]
    assert {*documented, *re.findall(r"`(\w+)`", shared)} == set(fields)


@pytest.mark.parametrize(
    ("plugin", "settings"), [("r_drop", RDropSettings), ("distillation", DistillationSettings)]
)
def test_the_tables_of_the_baselines_have_every_setting(
    plugin: str, settings: type[BaseModel]
) -> None:
    block = TEXT.split(f"[plugins.{plugin}]")[1].split("```")[0]
    assert re.findall(r"^(\w+) =", block, re.MULTILINE) == list(settings.model_fields)


def test_the_commands_train_with_what_they_say() -> None:
    section = TEXT.split("`--set plugins={}` takes it out")[1].split("## Why")[0]
    commands = section.split("```")[1].replace("\\\n", " ").strip().splitlines()
    found = []
    for command in commands:
        recipe, *changes = re.findall(r"configs/\S+|(?<=--set )\S+", command.split("#")[0])
        found.append(list(read_recipe(ROOT / recipe, changes).plugins))
    assert found == [[], ["r_drop"], ["distillation"]]
