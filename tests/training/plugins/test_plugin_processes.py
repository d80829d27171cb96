"""With a plug-in too, two processes train as one with twice the batch."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import launched_plugins
import launched_reasoning
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor


@pytest.fixture(scope="module")
def trainings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    one, two = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    launched_plugins.train_all(one, batch_size=4)
    launch(launched_plugins.__file__, str(two), "2")
    return one, two


def launch(script: str, *arguments: str) -> None:
    """Run it on two processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu"]
    command += ["--num_processes=2", f"--main_process_port={port}", script, *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


def best(output: Path, name: str) -> dict[str, Tensor]:
    return load_file(output / name / "best" / "model.safetensors")


@pytest.mark.parametrize("name", ["fgm", "fgsm", "pgd", "swa"])
def test_two_processes_train_as_one_with_twice_the_batch(
    trainings: tuple[Path, Path], name: str
) -> None:
    one, two = (best(output, name) for output in trainings)
    for weights in one:
        torch.testing.assert_close(two[weights], one[weights], rtol=1e-3, atol=1e-4)


def test_two_processes_draw_noise_of_their_own_for_vat(trainings: tuple[Path, Path]) -> None:
    one, two = (best(output, "vat") for output in trainings)
    torch.testing.assert_close(two["hidden.weight"], one["hidden.weight"], rtol=0.5, atol=0.02)
    assert not two["hidden.weight"].equal(one["hidden.weight"])


def test_two_processes_of_a_model_of_relations_stay_the_same(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    launch(launched_reasoning.__file__, str(tiny_encoder_path), str(tmp_path))
    for name in ("self_distillation", "r_drop", "distillation"):
        first, second = (torch.load(tmp_path / name / f"process-{rank}.pt") for rank in (0, 1))
        for weights in first:
            assert first[weights].equal(second[weights]), (name, weights)
