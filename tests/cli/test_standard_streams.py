"""Streams that are closed, full or cut off: no result is lost without a word and an exit code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document
from factloom.version import VERSION

full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")


def run(folder: Path, command: str) -> subprocess.CompletedProcess[bytes]:
    """`factloom` stands for the command line; the shell says what becomes of the streams."""
    started = command.replace("factloom", f"'{sys.executable}' -m factloom", 1)
    return subprocess.run(["bash", "-c", started], cwd=folder, capture_output=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    formats.write([Document("Ada left.", "a")], tmp_path / "a.jsonl")
    return tmp_path


@full
@pytest.mark.parametrize("command", ["--help", "data stats a.jsonl", "data stats a.jsonl --json"])
@pytest.mark.parametrize("stream", ["/dev/full", "&-"])
def test_what_cannot_be_shown_is_an_error(folder: Path, command: str, stream: str) -> None:
    finished = run(folder, f"factloom {command} >{stream}")
    assert finished.returncode == 1
    assert finished.stderr.endswith(b"[output-stream]\n")
    assert finished.stderr.count(b"\n") == 1


def test_a_closed_output_does_not_matter_where_nothing_is_shown(folder: Path) -> None:
    finished = run(folder, "factloom data convert a.jsonl b.jsonl >&-")
    assert finished.returncode == 0
    assert (folder / "b.jsonl").read_bytes() == (folder / "a.jsonl").read_bytes()


def test_who_has_read_enough_is_told_nothing(folder: Path) -> None:
    lines = "for i in $(seq 20000); do echo x; done"
    finished = run(folder, f"({lines}) > c.jsonl; factloom data check c.jsonl | head -1")
    assert finished.stdout.count(b"\n") == 1
    assert finished.stderr == b""


def test_without_an_input_there_is_nothing_to_read(folder: Path) -> None:
    (folder / "names.txt").write_text("Ada\n")
    options = "--dictionary names.txt --output b.jsonl"
    finished = run(folder, f"factloom label - {options} <&-")
    assert finished.returncode == 1
    assert b"problem: -: the file cannot be read" in finished.stderr


def test_without_a_stream_of_errors_the_results_stay_clean(folder: Path) -> None:
    finished = run(folder, "factloom data convert missing.jsonl b.jsonl 2>&-")
    assert (finished.returncode, finished.stdout) == (1, b"")


def test_names_do_nothing_to_the_terminal(folder: Path) -> None:
    finished = run(folder, "factloom data check $'\\e[31mred.jsonl'")
    assert b"\x1b" not in finished.stdout + finished.stderr
    assert finished.stdout.count(b"\\x1b[31mred.jsonl: ") == 2


def test_names_that_are_not_utf8_are_read_and_shown(folder: Path) -> None:
    (folder / os.fsdecode(b"caf\xe9.jsonl")).write_bytes((folder / "a.jsonl").read_bytes())
    finished = run(folder, "factloom data check $'caf\\xe9.jsonl'")
    assert finished.stdout.startswith(b"caf\\xe9.jsonl: ok")
    as_json = run(folder, "factloom data check $'caf\\xe9.jsonl' --json")
    assert as_json.returncode == 0
    assert b"UnicodeEncodeError" not in as_json.stderr


def test_the_version_is_told(folder: Path) -> None:
    assert run(folder, "factloom --version").stdout.decode() == f"factloom {VERSION}\n"
