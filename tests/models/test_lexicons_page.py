"""docs/lexicons.md says what is so: its code runs, its tables are complete."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from factloom.layouts.character_tables import CharacterSettings
from factloom.models.flat import FlatSettings
from factloom.models.soft_lexicon import SoftLexiconSettings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "lexicons.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL))


def documented(heading: str) -> dict[str, Any]:
    """Names and defaults of the table of settings in a section."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = section.split("| setting (`[model]`) | default | meaning |\n|---|---|---|\n")[1]
    lines = table.split("\n\n")[0].splitlines()
    cells = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]
    return {name: None if value == "none" else json.loads(value) for name, value, _ in cells}


@pytest.mark.parametrize(
    ("heading", "settings", "but"),
    [
        ("FLAT", FlatSettings, set(CharacterSettings.model_fields)),
        ("Soft-Lexicon", SoftLexiconSettings, set(CharacterSettings.model_fields)),
        ("Settings of both", CharacterSettings, set()),
    ],
)
def test_the_tables_of_settings_have_every_setting_with_its_default(
    heading: str, settings: Any, but: set[str]
) -> None:
    real = {n: f.default for n, f in settings.model_fields.items() if n not in but}
    assert documented(heading) == real


def test_the_words_of_the_sample_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my-words.tsv").write_text(BLOCKS["text"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS["python"], "lexicons.md", "exec"), {})
    assert capsys.readouterr().out == "武汉大学 0 4\n长江大桥 7 11\n"


def test_the_recipes_that_are_named_exist() -> None:
    named = set(re.findall(r"configs/[\w-]+\.toml", PAGE))
    assert len(named) >= 3
    assert all((ROOT / name).is_file() for name in named)
