"""docs/training.md says what is so: its code runs, its tables are complete."""

import json
import re
from pathlib import Path

import pytest
from toy_model import ToyModel, toy_examples

from factloom.training.plugin import Plugin
from factloom.training.settings import FREE_ON_RESUME, TrainingSettings

PAGE = Path(__file__).parents[2] / "docs" / "training.md"
TEXT = PAGE.read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table in a section."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
def test_code_blocks_run(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, str(PAGE), "exec"), {"model": ToyModel(), "examples": toy_examples(9)})
    assert list(tmp_path.glob("runs/*/best/model.safetensors"))


def test_the_table_of_settings_has_every_setting_with_its_default() -> None:
    def shown(default: object) -> str:
        return "none" if default is None else str(default).replace("'", '"')

    documented = {name.strip("`"): default.strip("`") for name, default, _ in rows("Settings")}
    real = {name: shown(field.default) for name, field in TrainingSettings.model_fields.items()}
    assert list(documented) == list(real)
    assert {name: _number(value) for name, value in documented.items()} == {
        name: _number(value) for name, value in real.items()
    }


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
    assert [row[0].strip("`").split("(")[0] for row in rows("Plug-ins")] == hooks
