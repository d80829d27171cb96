"""Several workers find what one does, in the same order, and what becomes of them when they die."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import slow_extraction
from crew_components import Deadly, Dying, DyingOnce, Exploding, Naming, Noting, Unloadable

from factloom.document import Document
from factloom.errors import ModelError
from factloom.extraction import Report, Targets, crew, extract
from factloom.extraction.crew import AHEAD, Crew
from factloom.formats.gathering import Problem
from factloom.pipeline import Pipeline, raise_problem

COUNT = 11


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(COUNT):
        (folder / f"{number:02}.txt").write_text("Ada Oslo")
    return folder


def extracted(
    component: Any, texts: Path, workers: int, name: str, batch_size: int = 2
) -> tuple[Report, bytes]:
    output = texts.parent / name
    pipeline = Pipeline(component)
    report = extract(
        pipeline, [str(texts)], Targets([output]), batch_size=batch_size, workers=workers
    )
    return report, output.read_bytes() if output.exists() else b""


def codes(report: Report) -> list[tuple[str, str | None]]:
    return [(problem.error.code, problem.place.document) for problem in report.problems]


def test_two_workers_find_the_same_bytes_in_the_same_batches(texts: Path) -> None:
    """What is found tells with which others it was read."""
    (texts / "03a.txt").write_text("explode")
    (texts / "03b.bin").write_bytes(b"\x00")
    reports, written = zip(
        *(extracted(Exploding(), texts, workers, f"{workers}.jsonl", 3) for workers in (1, 2)),
        strict=True,
    )
    assert written[0] == written[1]
    assert written[0].count(b'"company": ["05.txt", "06.txt", "07.txt"]') == 3
    assert str(reports[0]) == str(reports[1]) == "11 documents, 22 entities, 11 relations"
    assert sorted(codes(reports[0])) == sorted(codes(reports[1]))
    assert {code for code, _ in codes(reports[0])} == {"model-failed", "nul-byte"}


def test_every_worker_reads_and_has_its_share_of_the_processors() -> None:
    with Crew(Pipeline(Naming()), 2) as group:
        documents = [Document("Ada Oslo", str(number)) for number in range(8)]
        found = list(group.stream(documents, batch_size=1, problems=raise_problem))
    told = [document.relations[0].provenance for document in found]
    processes = {each["process"] for each in told}
    assert len(processes) == 2
    assert os.getpid() not in processes
    own = os.environ.get("OMP_NUM_THREADS")
    share = max(1, len(os.sched_getaffinity(0)) // 2)
    assert {each["threads"] for each in told} == {own or str(share)}


def test_no_more_is_read_ahead_than_is_under_way() -> None:
    given = 0

    def documents() -> Any:
        nonlocal given
        for number in range(50):
            given += 1
            yield Document("Ada Oslo", str(number))

    with Crew(Pipeline(Noting()), 1) as group:
        behind = [
            given - taken
            for taken, _ in enumerate(
                group.stream(documents(), batch_size=1, problems=raise_problem), start=1
            )
        ]
    assert len(behind) == 50
    assert max(behind) < AHEAD


def test_what_a_killed_worker_read_is_read_again(texts: Path, tmp_path: Path) -> None:
    (texts / "04.txt").write_text("Ada was killed")
    _, expected = extracted(Noting(), texts, 1, "one.jsonl")
    with pytest.warns(RuntimeWarning, match=r"killed by signal 9 while it read 2 documents from"):
        report, found = extracted(DyingOnce(tmp_path), texts, 2, "two.jsonl")
    assert found == expected
    assert report.problems == []


def test_a_document_of_which_every_worker_dies_is_a_problem(texts: Path) -> None:
    (texts / "04.txt").write_text("Ada was killed")
    with pytest.warns(RuntimeWarning, match="killed by signal 9"):
        report, found = extracted(Dying(), texts, 2, "out.jsonl", 4)
    assert codes(report) == [("worker-died", "04.txt")]
    assert found.count(b"\n") == report.documents == COUNT - 1
    assert "killed by signal 9" in str(report.problems[0].error)


def test_workers_that_only_die_are_an_error(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "MOST_DEATHS", 3)
    for path in texts.iterdir():
        path.write_text("Ada was killed")
    with (
        pytest.warns(RuntimeWarning, match="killed by signal 9"),
        pytest.raises(ModelError, match="3 processes died") as caught,
    ):
        extracted(Dying(), texts, 2, "out.jsonl", COUNT)
    assert caught.value.code == "workers-die"
    assert not (texts.parent / "out.jsonl").exists()


def test_a_model_that_cannot_be_loaded_is_one_error(texts: Path) -> None:
    with pytest.raises(ModelError, match="model-not-found"):
        extracted(Unloadable(), texts, 2, "out.jsonl")


def test_a_worker_that_cannot_begin_is_an_error(texts: Path) -> None:
    with pytest.raises(ModelError, match=r"ended with status 7.*\[worker-not-started\]"):
        extracted(Deadly(), texts, 2, "out.jsonl")


def test_a_component_that_cannot_travel_is_an_error_before_the_work() -> None:
    component = Noting()
    component.provenance = {"made": lambda: None}
    with pytest.raises(ModelError, match="worker-cannot-have"):
        Crew(Pipeline(component), 2)


def test_a_store_has_one_writer_and_goes_on(texts: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    from factloom.graph.store import Store

    stored = []
    for workers in (1, 2):
        targets = Targets(store=tmp_path / f"graph{workers}")
        pipeline = Pipeline(Noting())
        extract(pipeline, [str(texts / "00.txt")], targets, workers=workers)
        report = extract(pipeline, [str(texts)], targets, batch_size=2, workers=workers)
        assert (report.documents, report.read_before) == (COUNT - 1, 1)
        with Store.open(tmp_path / f"graph{workers}") as store:
            stored.append(sorted(str(document.to_json()) for document in store.documents()))
    assert stored[0] == stored[1]


def test_nothing_to_read_begins_no_process() -> None:
    problems: list[Problem] = []
    with Crew(Pipeline(Deadly()), 2) as group:
        assert list(group.stream([], batch_size=1, problems=problems.append)) == []
    assert problems == []


def test_ctrl_c_ends_all(texts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "processes"
    folder.mkdir()
    program = [sys.executable, slow_extraction.__file__, str(texts), str(folder)]
    main = subprocess.Popen(program, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        while len(processes := [int(path.name) for path in folder.iterdir()]) < 2:
            assert main.poll() is None
            time.sleep(0.05)
        os.killpg(main.pid, signal.SIGINT)  # as a terminal sends it: to all of them
        told = ended(main)
    finally:
        main.kill()
    assert "KeyboardInterrupt" in told
    assert not any(alive(process) for process in processes)
    assert not (folder / "out.jsonl").exists()


def ended(process: "subprocess.Popen[str]") -> str:
    """What a process tells until its end, or where it hangs."""
    try:
        return process.communicate(timeout=120)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # it shows the lines that its threads are at
        pytest.fail(process.communicate()[1])


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
