"""docs/knowledge.md says what is so: its code runs, its kinds exist."""

import re
from pathlib import Path

import pytest

from factloom.components import KINDS

TEXT = (Path(__file__).parents[2] / "docs" / "knowledge.md").read_text(encoding="utf-8")


def test_the_code_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(code, "docs/knowledge.md", "exec"), {})
    assert f"prints\n\n```\n{capsys.readouterr().out}```" in TEXT


def test_the_kinds_are_all_that_link() -> None:
    named = re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)
    assert named == [kind for kind, task in KINDS.items() if task == "linking"]
