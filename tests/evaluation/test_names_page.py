"""docs/names.md says what is so: its code runs, its keys, settings and spans are the real ones."""

import re
from pathlib import Path

import pytest

import factloom
from factloom.document import Document, Mention
from factloom.evaluation.tasks import TASKS, Answers
from factloom.models.tagger import TaggerSettings
from factloom.text.tags import spans_of
from factloom.text.tokens import join_tokens

PAGE = (Path(__file__).parents[2] / "docs" / "names.md").read_text()


def documents() -> list[Document]:
    text, sentences = join_tokens([["Ada", "left", "."]])
    return [Document(text, name, sentences) for name in ("a", "b")]


def test_code_blocks_run_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(asked: list[Document]) -> list[Document]:
        return [document.replace(mentions=(Mention(0, 3, "PER", 0.9),)) for document in asked]

    monkeypatch.setattr(factloom, "load", lambda _: find)
    known = {"documents": documents(), "gold": find(documents())}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, "docs/names.md", "exec"), known)
    assert [document.id for document in known["found"]] == ["a", "b"]
    assert known["marginals"].shape == (2, 7, 9)


def test_json_keys_are_all_documented() -> None:
    (gold,) = documents()[:1]
    gold = gold.replace(mentions=(Mention(0, 3, "PER"),))
    numbers = TASKS["mentions"].measure([gold], Answers([gold]), samples=0).numbers
    section = PAGE.split("### JSON")[1].split("```")[0]
    documented = set(re.findall(r"`(\w+)`", section)) - {"null"}
    assert documented == {*numbers, *numbers["errors"], *numbers["per_type"]["PER"]}


def test_settings_are_all_documented_with_their_defaults() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `?\"?(\w[\w.]*)\"?`? \|", PAGE, re.MULTILINE))
    defaults = TaggerSettings().model_dump()
    assert rows == {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in defaults.items()
    }


def test_the_table_of_illegal_tags_is_right() -> None:
    section = PAGE.split("**Illegal tags**")[1].split("###")[0]
    rows = re.findall(r"^\| `(.*?)`.*? \| (.*?) \|$", section, re.MULTILINE)
    assert len(rows) == 5
    for tags, expected in rows:
        found = spans_of(tags.split(), "BIOES")
        shown = [f"{span.type} {span.start}-{span.end}" for span in found]
        assert ", ".join(shown) == expected
