"""docs/formats.md says what is so: its samples are good files, its code runs."""

import re
from pathlib import Path

import pytest

from factloom import formats
from factloom.files.source import Source
from factloom.formats import registry
from format_samples import SAMPLES

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```([\w-]+)\n(.*?)```", PAGE, re.DOTALL))


@pytest.mark.parametrize("format", sorted(set(formats.READABLE) - {"pdf"}))
def test_samples_are_recognised_and_flawless(tmp_path: Path, format: str) -> None:
    # Markdown has no mark but its suffix.
    path = tmp_path / ("sample.md" if format == "markdown" else "sample")
    path.write_text(BLOCKS[format], encoding="utf-8")
    (tmp_path / "sample.txt").write_text(BLOCKS["brat-text"], encoding="utf-8")
    assert registry.detect(Source(path)) == format
    assert list(formats.check(path)) == []


def test_every_format_has_a_section_with_its_suffixes_and_losses() -> None:
    for name, format in formats.FORMATS.items():
        section = PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert all(f"`{suffix}`" in PAGE for suffix in format.suffixes)
        if format.loses:
            assert f"There is no place for {format.loses}." in section


def test_every_option_is_explained() -> None:
    for name, format in formats.FORMATS.items():
        section = PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
        for options in filter(None, (format.read_options, format.write_options)):
            for option in options.model_fields:
                assert f"| `{option}` |" in section or f"{name}:{option}=" in section


def test_code_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.json").write_text(SAMPLES["docred"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS["python"], "formats.md", "exec"), {})
    assert (tmp_path / "train.jsonl.gz").exists()
    assert "mention-name-differs" in capsys.readouterr().out


def test_gathering_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("Torvik.", encoding="utf-8")
    formats.write(formats.read(tmp_path / "texts" / "a.txt"), tmp_path / "more.jsonl.gz")
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS["py"], "formats.md", "exec"), {})
    assert capsys.readouterr().out == "a.txt texts/a.txt\na more.jsonl.gz\n"
