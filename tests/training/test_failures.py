"""Disk, memory, other trainings: each is one clear error, and the training can go on."""

import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from toy_model import ToyModel, last_weights, negative_error, toy_examples, toy_settings

from factloom.errors import FactloomError, InputError, ModelError
from factloom.training.failures import claimed, require_output, require_utf8
from factloom.training.plugin import Plugin
from factloom.training.step import Step
from factloom.training.trainer import Trainer


class FullDisk(Plugin):
    """From a step on, files can grow no longer than so many bytes."""

    def __init__(self, step: int, limit: int) -> None:
        self.step, self.limit = step, limit

    def after_step(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        if step.number == self.step:
            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.limit, hard))


def train(output: Path, plugin: Plugin) -> None:
    settings = toy_settings(checkpoint_every_steps=2)
    model, examples = ToyModel(dropout=0.2), toy_examples(12)
    Trainer(model, examples, settings, output, negative_error, [plugin]).train(resume=True)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # TensorBoard's
@pytest.mark.parametrize("limit", [0, 300, 2000])
def test_a_full_disk_is_told_and_training_goes_on_when_there_is_room(
    tmp_path: Path, limit: int
) -> None:
    train(tmp_path / "whole", FullDisk(-1, limit))
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(InputError, match="File too large") as caught:
            train(tmp_path / "full", FullDisk(5, limit))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    assert caught.value.code == "training-files"
    train(tmp_path / "full", FullDisk(-1, limit))
    expected, found = last_weights(tmp_path / "whole"), last_weights(tmp_path / "full")
    assert all(found[name].equal(expected[name]) for name in expected)


class Failing(ToyModel):
    def __init__(self, how: Any) -> None:
        super().__init__()
        self.how = how

    def forward(self, batch: Any) -> Any:  # noqa: ARG002
        return self.how()


def raised(error: Exception) -> Any:
    raise error


@pytest.mark.parametrize(
    "how",
    [
        lambda: torch.empty(2**50),
        lambda: raised(MemoryError()),
        lambda: raised(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")),
    ],
)
def test_too_little_memory_is_told_with_what_to_lower(tmp_path: Path, how: Any) -> None:
    trainer = Trainer(Failing(how), toy_examples(4), toy_settings(), tmp_path)
    with pytest.raises(ModelError, match=r"training\.batch_tokens") as caught:
        trainer.train()
    assert caught.value.code == "training-memory"


def test_other_errors_are_not_taken_for_those(tmp_path: Path) -> None:
    trainer = Trainer(
        Failing(lambda: torch.ones(2) @ torch.ones(3)), toy_examples(4), toy_settings(), tmp_path
    )
    with pytest.raises(RuntimeError, match="size") as caught:
        trainer.train()
    assert not isinstance(caught.value, FactloomError)


def test_a_folder_belongs_to_one_training_at_a_time(tmp_path: Path) -> None:
    with claimed(tmp_path / "run"):
        with pytest.raises(InputError) as caught, claimed(tmp_path / "run"):
            pass
        with claimed(tmp_path / "other"):
            pass
    assert caught.value.code == "training-in-use"
    with claimed(tmp_path / "run"):
        pass


def test_the_other_processes_of_a_training_do_not_ask_for_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with claimed(tmp_path):
        monkeypatch.setenv("RANK", "1")
        with claimed(tmp_path):
            pass


def test_a_kill_gives_the_folder_back(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with claimed(tmp_path):
            os.write(writing, b"x")
            signal.pause()
    os.read(reading, 1)
    with pytest.raises(InputError), claimed(tmp_path):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with claimed(tmp_path):
        pass


@pytest.mark.parametrize("name", ["taken", "taken/below", "taken/far/below"])
def test_a_file_in_the_way_of_the_output_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match="taken is a file") as caught:
        require_output(tmp_path / name)
    assert caught.value.code == "output-not-folder"


@pytest.mark.parametrize("name", [".", "new", "new/below"])
def test_folders_that_are_there_or_can_be_made_are_fine(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    require_output(Path(name))


def test_a_name_that_is_not_utf8_is_told() -> None:
    require_utf8("中文.txt")
    with pytest.raises(InputError, match=r"PER\\udcff\.txt") as caught:
        require_utf8(os.fsdecode(b"PER\xff.txt"))
    assert caught.value.code == "name-not-utf8"
