"""A process that is killed while it takes in documents leaves a whole store behind."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "killed_ingest.py"


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """The version of each document after each kill, and at the end; 0 for those not there.

    The script has looked into the store each time, and checked that it is whole.
    """
    store = tmp_path_factory.mktemp("killed") / "store"
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parent)}
    command = [sys.executable, str(SCRIPT), str(store)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_kills_came_in_the_middle(history: list[list[int]]) -> None:
    assert len(history) > 3
    assert any(len(set(versions)) > 1 for versions in history), "never between two documents"


def test_the_ingest_goes_on_where_it_was(history: list[list[int]]) -> None:
    for before, after in pairwise(history):
        # From nothing to version 1 to version 2; nothing that was taken in is lost.
        assert all(old <= new for old, new in zip(before, after, strict=True))


def test_at_the_end_every_document_is_there_in_its_last_version(history: list[list[int]]) -> None:
    assert set(history[-1]) == {2}


def test_killed_between_corrections_nothing_is_half_done(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SCRIPT.parent), *sys.path])}
    command = [sys.executable, str(SCRIPT.parent / "killed_corrections.py"), str(tmp_path / "s")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts == sorted(counts)
    assert counts[-1] > len(counts) >= 8
