"""docs/extract.md says what is so: its code runs, its options and settings are complete."""

import re
import tomllib
from pathlib import Path

import pytest
import typer

import factloom
from factloom.cli import app
from factloom.document import Document, Entity, Mention, Relation
from factloom.pipeline import Pipeline
from factloom.schema import SchemaSettings, make_schema

TEXT = (Path(__file__).parents[1] / "docs" / "extract.md").read_text(encoding="utf-8")
NAMES = {"P112": "founded by", "P17": "country"}


class Model:
    """Says of every text that its second word was founded by its first."""

    task = "end-to-end"
    relation_names = NAMES
    provenance: dict[str, object] = {}  # noqa: RUF012

    def predict(self, documents: list[Document]) -> list[Document]:
        return [
            document.replace(
                mentions=(Mention(0, 3, "PER"), Mention(4, 8, "ORG")),
                entities=(Entity((0,), "PER"), Entity((1,), "ORG")),
                relations=(Relation(1, 0, "P112", score=0.8, evidence=(0,)),),
            )
            for document in documents
        ]


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
def test_code_blocks_run(
    block: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for place, name in ((factloom, "load"), (Pipeline, "load_later")):
        monkeypatch.setattr(place, name, lambda **settings: Pipeline(Model(), **settings))
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("Ada Tint was there.")
    (tmp_path / "texts" / "b.bin").write_bytes(b"\x00")
    exec(compile(block, "docs/extract.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "founded by" in printed or "texts/b.bin" in printed


def test_the_table_of_options_has_every_option() -> None:
    command = typer.main.get_command(app).commands["extract"]  # type: ignore[attr-defined]
    options = [option for parameter in command.params for option in parameter.opts]
    first_table = TEXT.split("\n\n**Bad documents**")[0]
    documented = re.findall(r"^\| `(--[a-z-]+)` \|", first_table, re.MULTILINE)
    assert sorted(documented) == sorted(name for name in options if name.startswith("--"))


def test_the_table_of_settings_has_every_setting() -> None:
    section = TEXT.split("## Which relations are kept\n")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE)
    assert sorted(documented) == sorted(SchemaSettings.__annotations__)


@pytest.mark.parametrize("block", re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL))
def test_files_of_settings_are_valid(block: str) -> None:
    schema = make_schema(NAMES, **tomllib.loads(block))
    assert schema.relations == {"P112", "P17"}
    assert schema.thresholds == {"P112": 0.65}
