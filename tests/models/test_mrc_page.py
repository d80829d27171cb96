"""docs/mrc.md says what is so: its table of settings is complete, its code runs."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from documented_settings import default_settings, documented_settings
from factloom import formats
from factloom.document import Document
from factloom.models.mrc import MrcSettings, default_question
from factloom.training.recipe import EncoderRecipe

TEXT = (Path(__file__).parents[2] / "docs" / "mrc.md").read_text(encoding="utf-8")


def test_the_table_of_settings_has_every_setting_with_its_default() -> None:
    section = TEXT.split("## Settings")[1].split("\n## ")[0]
    found, real = documented_settings(section), default_settings(MrcSettings)
    assert list(found.items()) == list(real.items())


def test_the_settings_of_the_samples_are_right() -> None:
    questions, encoder = (
        tomllib.loads(block.split("```")[0]) for block in TEXT.split("```toml\n")[1:]
    )
    assert MrcSettings(**questions["model"]).questions
    assert EncoderRecipe(**encoder["encoder"]).new_characters


def test_the_code_runs(
    tiny_encoder_path: Path,
    profiles: list[Document],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    formats.write(profiles[:2], Path("train.jsonl"))
    (block,) = (block.split("```")[0] for block in TEXT.split("```python\n")[1:])
    code = block.replace("all-MiniLM-L6-v2", str(tiny_encoder_path))
    names: dict[str, Any] = {}
    exec(compile(code, "docs/mrc.md", "exec"), names)
    assert names["model"].types
    assert Path("runs/mine/best/config.json").exists()


def test_the_default_question_is_the_one_shown() -> None:
    assert default_question("cell_line", {}) in " ".join(TEXT.split())
