"""docs/exports.md says what is so: its code runs, its tables are complete."""

import csv
import re
from pathlib import Path

import pytest

from factloom.graph.exports import SUFFIXES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "exports.md").read_text("utf-8")


def test_the_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "docs/exports.md", "exec"), known)
    assert Path("graph.graphml").stat().st_size > 0
    assert isinstance(known["count"], int)


def test_the_table_has_every_suffix() -> None:
    assert set(re.findall(r"^\| `(\.\w+)` \|", PAGE, re.MULTILINE)) == set(SUFFIXES)


def test_the_columns_of_the_csv_files_are_named(tmp_path: Path) -> None:
    from factloom.graph.exports import write_graph

    write_graph([], tmp_path / "graph.csv")
    section = PAGE[PAGE.index("## CSV") :]
    assert len(list(tmp_path.iterdir())) == 3
    for path in tmp_path.iterdir():
        [header] = csv.reader(path.read_text("utf-8-sig").splitlines())
        assert all(f"`{column}`" in section for column in header)


def test_the_bounds_of_the_page_are_those_of_its_scripts() -> None:
    from factloom.graph import page

    script = Path(page.__file__).with_name("page.js").read_text("utf-8")
    bounds = dict(re.findall(r"^const ([A-Z_]+) = (\d+);", script, re.MULTILINE))
    words = " ".join(PAGE.split())
    assert f"{bounds['MOST_NODES']} entities are drawn" in words
    assert f"{bounds['RELATIONS_A_STEP']} relations are listed at first" in words
    assert f"{bounds['MOST_EVIDENCE']} facts are shown for one edge" in words
    assert f"documents beyond {page.MOST_DOCUMENTS:,} are counted" in words
