"""docs/evaluation.md says what is so: its code runs, its JSON keys are the real ones."""

import re
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document, Relation
from factloom.evaluation.tasks import TASKS, Answers

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
def test_code_blocks_run(
    block: str, ada: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a DocRED file keeps tokens and no space behind the last
    known = ada.replace(text=ada.text.rstrip(), relations=(Relation(0, 1, "P19"),))
    for name in ("dev.json", "train.json", "predictions.jsonl"):
        formats.write([known], tmp_path / name)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, str(PAGE), "exec"), {})


def test_json_keys_are_all_documented(ada: Document) -> None:
    section = PAGE.read_text().split("## JSON")[1].split("## ")[0]
    result = TASKS["relations"].measure([ada], Answers([ada]), samples=1).numbers
    documented = set(re.findall(r"`(\w+)`", section))
    assert documented - {"null"} == {*result, *result["per_relation"]["born"]}


def test_the_keys_of_raw_text_are_all_documented(ada: Document) -> None:
    section = PAGE.read_text().split("## From raw text")[1].split("## ")[0]
    result = TASKS["end-to-end"].measure([ada], Answers([ada]), samples=1).numbers
    in_table = section.split("`--json` prints")[1].split("Training watches")[0]
    documented = set(re.findall(r"`(\w+)`", in_table))
    assert documented - {"null"} == {*result, *result["entities"]}
