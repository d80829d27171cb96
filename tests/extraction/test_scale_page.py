"""docs/scale.md says what is so: its commands are such, and its arithmetic comes out."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from factloom.cli import app
from factloom.extraction.blocks import BATCHES
from factloom.extraction.crew import AHEAD

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()
]


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("factloom")])
def test_the_commands_are_understood(line: str) -> None:
    _, name, *arguments = shlex.split(line)
    command: Any = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    given = command.make_context(name, arguments).params
    assert given["inputs"] == ["corpus/"]
    assert given["workers"] or given["engine"] == "ray"


def test_the_arithmetic_comes_out(capsys: pytest.CaptureFixture[str]) -> None:
    [(code, shown)] = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(code, "docs/scale.md", "exec"), {})
    assert capsys.readouterr().out == shown


def test_the_sizes_are_those_of_the_engine() -> None:
    assert f"blocks of {BATCHES} batches ({32 * BATCHES} documents" in TEXT
    assert AHEAD == 4
    assert "Four batches a worker" in TEXT


def test_what_is_installed_is_an_extra() -> None:
    [install] = [line for line in COMMANDS if line.startswith("pip")]
    [extra] = re.findall(r"factloom\[(\w+)\]", install)
    assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
