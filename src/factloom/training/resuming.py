"""What a checkpoint holds of a training, and how the training goes on from it, bit for bit."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factloom.errors import InputError, Place, RecipeError
from factloom.training.checkpoint import (
    CHECKPOINTS,
    checkpoints,
    load_checkpoint,
    recover_directory,
    remove_leftovers,
    save_checkpoint,
)
from factloom.training.fingerprint import differences, fingerprint
from factloom.training.optimization import load_optimizer_state, optimizer_state
from factloom.training.processes import from_all
from factloom.training.progress import Progress
from factloom.training.randomness import random_state, set_random_state

if TYPE_CHECKING:
    from factloom.training.trainer import Trainer


def last_checkpoint(trainer: "Trainer", resume: bool) -> Path | None:
    """The checkpoint to go on from; there is none if a kill came before the first."""
    folder = trainer.output / CHECKPOINTS
    if trainer.accelerator.is_main_process:
        recover_directory(trainer.output / "best")
        remove_leftovers(folder)
    trainer.accelerator.wait_for_everyone()
    found = checkpoints(folder)
    if found and not resume:
        raise InputError("training-exists", Place(file=str(trainer.output)))
    return found[-1] if found else None


def save_training(trainer: "Trainer") -> None:
    """Write a checkpoint; all processes have to call it, the first one writes."""
    scaler = trainer.accelerator.scaler
    state = {
        "fingerprint": _fingerprint(trainer),
        "progress": asdict(trainer.progress),
        "optimizer": optimizer_state(trainer.optimizer),
        "scaler": {} if scaler is None else scaler.state_dict(),
        "plugins": [plugin.state_dict() for plugin in trainer.plugins],
        "random": from_all(random_state()),
    }
    if trainer.accelerator.is_main_process:
        folder, weights = trainer.output / CHECKPOINTS, trainer.model.state_dict()
        save_checkpoint(folder, trainer.progress.step, weights, state, trainer.settings.keep)


def load_training(trainer: "Trainer", directory: Path) -> None:
    """Bring the trainer into the state of a checkpoint, if that is one of the same training."""
    weights, state = load_checkpoint(directory)
    changes = differences(state["fingerprint"], _fingerprint(trainer))
    if changes:
        raise RecipeError("other-training", Place(file=str(directory)), changes="; ".join(changes))
    trainer.model.load_state_dict(weights)
    load_optimizer_state(trainer.optimizer, state["optimizer"])
    if trainer.accelerator.scaler is not None:
        trainer.accelerator.scaler.load_state_dict(state["scaler"])
    for plugin, saved in zip(trainer.plugins, state["plugins"], strict=True):
        plugin.load_state_dict(saved)
    trainer.progress = Progress(**state["progress"])
    # Last, lest anything above draws a random number.
    set_random_state(state["random"][trainer.accelerator.process_index])


def _fingerprint(trainer: "Trainer") -> dict[str, Any]:
    accelerator = trainer.accelerator
    return fingerprint(
        trainer.model,
        trainer.source,
        trainer.settings,
        trainer.plugins,
        accelerator.num_processes,
        accelerator.mixed_precision,
    )
