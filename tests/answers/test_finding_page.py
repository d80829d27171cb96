"""docs/answers.md says what is so of finding: its code runs, its numbers are the real ones."""

from pathlib import Path

import pytest
from hashed_texts import HashedTexts

from factloom.answers import index, passage_index
from factloom.answers.passage_index import DEPTH
from factloom.answers.passages import MOST_WORDS
from factloom.answers.retrieval import RANK_CONSTANT

TEXT = (Path(__file__).parents[2] / "docs" / "answers.md").read_text(encoding="utf-8")
FINDING = TEXT.split("\n## Finding\n")[1].split("\n## ")[0]


def test_the_numbers_are_the_real_ones() -> None:
    assert f"`--most-words` words ({MOST_WORDS})" in FINDING
    assert f"1 / ({RANK_CONSTANT} + rank)" in FINDING
    assert f"{DEPTH} passages of each" in FINDING


def test_the_code_of_finding_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for module in (index, passage_index):
        monkeypatch.setattr(module, "TextVectors", lambda *_: HashedTexts())
    (code,) = (block.split("```")[0] for block in FINDING.split("```python\n")[1:])
    exec(compile(code, "docs/answers.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("UpdateReport(added=1")
    assert printed[1].startswith("a 0 Quillmark lies in Torvik.")
    assert "Mara Velden" in printed[-1]
