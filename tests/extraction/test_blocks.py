"""A corpus in blocks: each is read once, by whomever, and the parts are what one process writes."""

from pathlib import Path
from typing import Any

import pytest
from crew_components import Exploding, Noting

from factloom import extraction
from factloom.errors import InputError
from factloom.extraction import Report, Targets, blocks
from factloom.extraction.blocks import Corpus, Run
from factloom.pipeline import Pipeline

SIZE = 2


@pytest.fixture(autouse=True)
def two_batches_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BATCHES", 2)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(11):
        (folder / f"{number:02}.txt").write_text("Ada Oslo")
    (folder / "05.txt").write_text("Ada explode")
    (folder / "zz.txt").write_bytes(b"\x00")
    (folder / "again.jsonl").write_text('{"factloom": 1, "text": "Ada Oslo", "id": "01.txt"}\n')
    return folder


def begun(directory: Path, texts: Path, pipeline: Any, size: int = SIZE) -> Run:
    run = Run(directory)
    corpus = Corpus.of([str(texts)], None, size, pipeline)
    run.begin(corpus, [str(texts)], pipeline)
    return run


def parts(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.glob("part-*.jsonl")))


def told(report: Report) -> list[str]:
    return sorted(str(problem.error) for problem in report.problems)


def test_the_parts_are_what_one_process_writes(texts: Path, tmp_path: Path) -> None:
    pipeline = Pipeline(Exploding())
    whole = tmp_path / "whole.jsonl"
    expected = extraction.extract(pipeline, [str(texts)], Targets([whole]), batch_size=SIZE)
    run = begun(tmp_path / "found", texts, pipeline)
    assert run.left() == [0, 1, 2]
    for block in reversed(run.left()):
        run.read(block, pipeline, SIZE)
    assert parts(run.directory) == whole.read_bytes()
    report = run.report()
    assert str(report) == str(expected)
    assert told(report) == told(expected)
    kinds = {type(problem.error) for problem in report.problems}
    assert kinds == {type(problem.error) for problem in expected.problems}


def test_a_run_goes_on_with_the_blocks_that_are_left(texts: Path, tmp_path: Path) -> None:
    pipeline = Pipeline(Noting())
    run = begun(tmp_path / "found", texts, pipeline)
    run.read(1, pipeline, SIZE)
    first = parts(run.directory)
    (texts / "new.txt").write_text("not of this run")
    again = begun(tmp_path / "found", texts, pipeline)
    assert again.left() == [0, 2]
    for block in again.left():
        again.read(block, pipeline, SIZE)
    assert first in parts(again.directory)
    assert b"not of this run" not in parts(again.directory)
    report = again.report(before=[1])
    assert (report.read_before, report.documents) == (4, 8)
    assert list((again.directory / ".run").glob("*.jsonl")) == []


def test_a_block_that_is_read_is_not_read_again(texts: Path, tmp_path: Path) -> None:
    run = begun(tmp_path / "found", texts, Pipeline(Noting()))
    run.read(0, Pipeline(Noting()), SIZE)
    before = parts(run.directory)
    run.read(0, Pipeline(Exploding()), SIZE)
    assert parts(run.directory) == before


def test_a_run_that_was_stopped_while_it_cut_begins_anew(texts: Path, tmp_path: Path) -> None:
    directory = tmp_path / "found"
    run = begun(directory, texts, Pipeline(Noting()))
    (directory / ".run" / "plan.json").unlink()
    (directory / ".run" / "000009.jsonl").write_text("half")
    assert begun(directory, texts, Pipeline(Noting())).left() == run.left() == [0, 1, 2]
    assert not (directory / ".run" / "000009.jsonl").exists()


def test_its_own_directory_is_not_read(texts: Path) -> None:
    pipeline = Pipeline(Noting())
    run = begun(texts / "found", texts, pipeline)
    for block in run.left():
        run.read(block, pipeline, SIZE)
    assert run.report().documents == 12


def test_a_block_in_which_nothing_can_be_read_has_no_part(texts: Path, tmp_path: Path) -> None:
    for path in texts.iterdir():
        path.write_text("Ada explode")
    pipeline = Pipeline(Exploding())
    run = begun(tmp_path / "found", texts, pipeline)
    for block in run.left():
        run.read(block, pipeline, SIZE)
    assert run.left() == []
    assert parts(run.directory) == b""
    assert run.report().documents == 0


def test_another_run_in_the_same_directory_is_an_error(texts: Path, tmp_path: Path) -> None:
    begun(tmp_path / "found", texts, Pipeline(Noting()))
    other = Pipeline(Noting(), name="other")
    for given in ((texts, other), (texts.parent, Pipeline(Noting()))):
        with pytest.raises(InputError, match="other-run"):
            begun(tmp_path / "found", *given)
    with pytest.raises(InputError, match=r"its batch_size differ.*other-run"):
        begun(tmp_path / "found", texts, Pipeline(Noting()), size=3)


def test_parts_of_unknown_origin_are_left_alone(texts: Path, tmp_path: Path) -> None:
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "part-000000.jsonl").write_text("precious")
    with pytest.raises(InputError, match="output-not-empty"):
        begun(tmp_path / "found", texts, Pipeline(Noting()))
    assert parts(tmp_path / "found") == b"precious"


def test_a_directory_that_a_machine_does_not_see_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run-not-seen"):
        Run(tmp_path).read(0, Pipeline(Noting()), SIZE)
