"""Two processes train as one with twice the batch."""

import atexit
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import launched_training
import pytest
import torch
from toy_model import ToyModel, last_weights, toy_examples, toy_settings

from factloom.errors import RecipeError
from factloom.training.processes import leave_group
from factloom.training.trainer import Trainer

PROGRAM = Path(launched_training.__file__)


def launch(output: Path, processes: int, batch_size: int) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--multi_gpu", f"--num_processes={processes}", f"--main_process_port={port}"]
    command = [sys.executable, "-m", "accelerate.commands.launch", *options]
    command += [str(PROGRAM), str(output), str(batch_size)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def trainings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    one, two = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    launched_training.train_all(one, batch_size=4)
    launch(two, processes=2, batch_size=2)
    return one, two


@pytest.mark.parametrize("name", ["plain", "contiguous", "stream", "adversarial"])
def test_two_processes_train_as_one_with_twice_the_batch(
    trainings: tuple[Path, Path], name: str
) -> None:
    one, two = (last_weights(output / name) for output in trainings)
    assert one.keys() == two.keys()
    for weights in one:
        torch.testing.assert_close(two[weights], one[weights], rtol=1e-4, atol=1e-5)


def test_the_plugin_that_runs_every_step_twice_makes_a_difference(
    trainings: tuple[Path, Path],
) -> None:
    plain, adversarial = (last_weights(trainings[0] / name) for name in ("plain", "adversarial"))
    assert not torch.allclose(plain["head.weight"], adversarial["head.weight"], atol=1e-3)


def test_two_processes_report_the_loss_and_documents_of_both(trainings: tuple[Path, Path]) -> None:
    losses = [
        [
            record["loss"]
            for line in (output / "plain" / "metrics.jsonl").read_text().splitlines()
            if "loss" in (record := json.loads(line))
        ]
        for output in trainings
    ]
    assert len(losses[0]) == 9  # one record a step, by one process
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)


def test_two_interrupted_processes_resume_to_the_same_weights(
    trainings: tuple[Path, Path],
) -> None:
    for output in trainings:
        expected, resumed = (last_weights(output / n) for n in ("undisturbed", "resumed"))
        assert all(resumed[name].equal(expected[name]) for name in expected)


def test_a_launcher_that_starts_one_process_instead_of_many_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "no")  # as `accelerate launch --cpu` does
    monkeypatch.setenv("MASTER_PORT", "29500")
    with pytest.raises(RecipeError, match="only one"):
        Trainer(ToyModel(), toy_examples(2), toy_settings(), tmp_path)


def test_the_group_of_processes_is_left_once_at_the_end_of_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[object] = []
    monkeypatch.setattr(atexit, "register", left.append)
    monkeypatch.setattr(atexit, "unregister", lambda call: left.remove(call) if left else None)
    for name in ("first", "second"):
        Trainer(ToyModel(), toy_examples(2), toy_settings(), tmp_path / name)
    assert left == [leave_group]
