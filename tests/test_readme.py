"""The README's commands and code are run as they stand there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the README's commands have been run, with a training cut short."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("configs", "examples"):
        (folder / name).symlink_to(ROOT / name)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for line in "".join(blocks("bash")).splitlines():
        command = shlex.split(line)
        if command[:2] == ["factloom", "train"]:
            command += ["--set", "training.epochs=1"]
        finished = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert finished.returncode == 0, f"{line}\n{finished.stdout}\n{finished.stderr}"
    return folder


def test_every_command_of_the_readme_runs(folder: Path) -> None:
    assert (folder / "runs/readme/best/model.safetensors").is_file()
    assert (folder / "found.jsonl").is_file()
    assert "Marisol Ines Devane" in (folder / "graph.html").read_text(encoding="utf-8")


def test_the_code_of_the_readme_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    exec("\n".join(blocks("python")), {})
    assert "3 documents written" in capsys.readouterr().out


def test_the_readme_names_both_commands() -> None:
    assert "make demo" in README
    assert "make test" in README
