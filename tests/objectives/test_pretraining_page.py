"""docs/pretraining.md says what is so: its tables are complete, its code runs."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from factloom.objectives import objective_kinds, objective_settings
from factloom.training.pretraining import pretrain
from factloom.training.text_recipe import (
    NetworkRecipe,
    PretrainRecipe,
    TextEncoderRecipe,
    TextRecipe,
)

TEXT = (Path(__file__).parents[2] / "docs" / "pretraining.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that begins with this cell."""
    table = TEXT.split(f"| {heading} |")[1].split("\n\n")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]


def shown(default: object) -> str:
    if isinstance(default, float):
        return str(round(default, 4))
    return "none" if default is None else str(default)


@pytest.mark.parametrize(
    ("section", "kind"),
    [("data", TextRecipe), ("encoder", TextEncoderRecipe), ("network", NetworkRecipe)],
)
def test_tables_of_settings_have_every_setting_with_its_default(
    section: str, kind: type[BaseModel]
) -> None:
    documented = [(row[0], row[1]) for row in rows(f"setting (`[{section}]`)")]
    assert documented == [
        (name, "" if field.is_required() else shown(field.default))
        for name, field in kind.model_fields.items()
    ]


def test_the_table_of_objectives_has_every_kind() -> None:
    kinds = [re.findall(r"\w+", row[0])[0] for row in rows("kind")]
    assert sorted(kinds) == objective_kinds()


def test_the_settings_of_objectives_are_those_that_there_are() -> None:
    documented = {row[0]: row[1:] for row in rows("setting (`[objective]`)")}
    real: dict[str, set[str]] = {}
    for kind in objective_kinds():
        for name, field in objective_settings(kind).model_fields.items():
            real.setdefault(name, set()).add(shown(field.default))
    assert documented.keys() == real.keys()
    for name, defaults in real.items():
        assert all(default in " ".join(documented[name]) for default in defaults), name


def test_pieces_of_recipes_are_right() -> None:
    (block,) = (block.split("```")[0] for block in TEXT.split("```toml\n")[1:])
    assert NetworkRecipe(**tomllib.loads(block)["network"]).relative_positions == 127


def test_the_recipes_that_are_named_are_there() -> None:
    for path in re.findall(r"configs/[\w-]+\.toml", TEXT):
        assert (Path(__file__).parents[2] / path).exists()


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some texts in the folder that the page speaks of."""
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    for number in range(12):
        Path(f"notes/{number}.txt").write_text("She was born in Torvik and studied there. " * 8)


@pytest.mark.usefixtures("notes")
def test_a_decoder_writes_as_the_page_says(
    tiny_encoder_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = PretrainRecipe(
        objective={"kind": "t5"},
        encoder={"name": str(tiny_encoder_path), "window": 32},
        data={"text": ["notes/"], "hold_out": 0.1},
        training={"steps": 2, "learning_rates": {"": 1e-3}},
    )
    pretrain(recipe, Path("runs/writer"), skipped=lambda problem: print(problem.error))
    (_, block, _) = (block.split("```")[0] for block in TEXT.split("```python\n")[1:])
    exec(compile(block, "docs/pretraining.md", "exec"), {})
    assert "[CLS]" in capsys.readouterr().out


@pytest.mark.usefixtures("notes")
def test_a_memory_is_carried_on_as_the_page_says(
    tiny_encoder_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = PretrainRecipe(
        objective={"kind": "causal"},
        encoder={"name": str(tiny_encoder_path), "window": 16},
        network={"layers": 2, "width": 16, "heads": 2, "memory": 16},
        data={"text": ["notes/"], "hold_out": 0.1},
        training={"steps": 2, "learning_rates": {"": 1e-3}},
    )
    pretrain(recipe, Path("runs/xl"), skipped=lambda problem: print(problem.error))
    (block, _, _) = (block.split("```")[0] for block in TEXT.split("```python\n")[1:])
    exec(compile(block, "docs/pretraining.md", "exec"), {})
    assert "topk" in capsys.readouterr().out


@pytest.mark.usefixtures("notes")
def test_the_code_runs(
    tiny_encoder_path: Path,
) -> None:
    (_, _, block) = (block.split("```")[0] for block in TEXT.split("```python\n")[1:])
    names: dict[str, Any] = {}
    code = block.replace("all-MiniLM-L6-v2", str(tiny_encoder_path))
    exec(compile(code, "docs/pretraining.md", "exec"), names)
    assert isinstance(names["recipe"], PretrainRecipe)
    assert names["results"]["development"].keys() == {"loss", "perplexity"}
    assert Path("runs/mine/best/config.json").exists()
