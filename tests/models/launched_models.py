"""Started by test_two_processes.py with `accelerate launch`: trains models that lie in a folder.

    accelerate launch --num_processes 2 launched_models.py FOLDER BATCH_SIZE

A pickle NAME holds a model and its examples. NAME.weights gets what the first process has in the
end, NAME.same whether all processes have it.
"""

import hashlib
import pickle
import sys
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState

from factloom.training import reporting
from factloom.training.processes import from_all
from factloom.training.settings import TrainingSettings
from factloom.training.trainer import Trainer

STEPS = 2


def train_all(folder: Path, batch_size: int, output: Path) -> None:
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        model, examples = pickle.loads(path.read_bytes())
        weights = trained(model, examples, batch_size, output / f"{path.name}.run")
        same = len(set(from_all(fingerprint(weights)))) == 1
        if PartialState().is_main_process:
            torch.save(weights, output / f"{path.name}.weights")
            (output / f"{path.name}.same").write_text(str(same))


def trained(model: Any, examples: Any, batch_size: int, output: Path) -> dict[str, torch.Tensor]:
    """The weights after two steps; each process would hide something else, so nothing is."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    rates = {"": 1e-3}
    settings = TrainingSettings(
        epochs=None, steps=STEPS, batch_size=batch_size, learning_rates=rates
    )
    Trainer(model, examples, settings, output).train()
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def fingerprint(weights: dict[str, torch.Tensor]) -> str:
    digest = hashlib.sha256()
    for name in sorted(weights):
        digest.update(weights[name].numpy().tobytes())
    return digest.hexdigest()


if __name__ == "__main__":
    reporting.draw_curves = lambda *_: None  # it takes longer than all the rest
    train_all(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
    PartialState().wait_for_everyone()
