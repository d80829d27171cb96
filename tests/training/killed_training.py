"""Trains the toy model in child processes that are killed again and again, for test_resuming.py.

    python killed_training.py OUTPUT SOURCE

trains on one of the sources of toy_model.py and makes OUTPUT/undisturbed (no kill), OUTPUT/files
(killed at one file operation after the other) and OUTPUT/moments (killed at random moments), and
prints the number of kills of each as JSON. Children are forked, so that torch is imported once and
not at every kill.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch._dynamo  # the optimizer imports it: once here, not in every child
import torch.utils.tensorboard  # noqa: F401  as above
import toy_model
from toy_model import RememberingModel, ToyModel, negative_error, toy_settings, toy_source

from factloom.training import checkpoint, reporting
from factloom.training.plugin import Plugin
from factloom.training.trainer import Trainer


class Slow(Plugin):
    """Makes a step long enough to be killed in, and has a state of its own."""

    def __init__(self) -> None:
        self.steps = 0

    def after_step(self, trainer: Trainer, step: object) -> None:  # noqa: ARG002
        self.steps += 1
        time.sleep(0.01)

    def on_end(self, trainer: Trainer) -> None:
        assert self.steps == trainer.total_steps, "the plug-in's state was lost"

    def state_dict(self) -> dict[str, int]:
        return {"steps": self.steps}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.steps = state["steps"]


def train(output: Path, source: str) -> None:
    reporting.draw_curves = lambda *_: None  # it takes longer than all the rest
    length = {"epochs": 4} if source == "bucketed" else {"steps": 48, "validate_every_steps": 7}
    settings = toy_settings(**length, batch_size=2, checkpoint_every_steps=3, batch_terms=10)
    model = (RememberingModel if source == "contiguous" else ToyModel)(dropout=0.3)
    trainer = Trainer(model, toy_source(source), settings, output, negative_error, [Slow()])
    trainer.train(resume=True)


def die_at_file_operation(number: int) -> None:
    """Kill this process when it is about to change the disk for the `number`-th time.

    A file that is being written then stays behind with half of its content.
    """
    left = iter(range(number - 1, -1, -1))

    def deadly(operation: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **options: object) -> object:
            if next(left) == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return operation(*arguments, **options)

        return counted

    def tearing(write: Callable[..., object], file: int) -> Callable[..., object]:
        def counted(*arguments: Any, **options: object) -> object:
            result = write(*arguments, **options)
            if next(left) == 0:
                written = Path(arguments[file])
                os.truncate(written, written.stat().st_size // 2)
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return counted

    for owner, name in ((os, "fsync"), (os, "rename"), (os, "replace"), (os, "mkdir"),
                        (os, "rmdir"), (os, "unlink"), (shutil, "rmtree")):  # fmt: skip
        setattr(owner, name, deadly(getattr(owner, name)))
    for module in (checkpoint, toy_model):
        module.save_file = tearing(module.save_file, file=1)
    Path.write_text = tearing(Path.write_text, file=0)


def survives(output: Path, moment: float | None = None, operation: int | None = None) -> bool:
    """Train in a child; whether it came to its end before it was killed."""
    child = os.fork()
    if child == 0:
        if operation is not None:
            die_at_file_operation(operation)
        try:
            train(output, sys.argv[2])
        except BaseException as error:
            print(f"child failed: {error!r}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    if moment is not None:
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)  # harmless if it has ended: nobody has asked for it yet
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        sys.exit("a resumed training failed")
    return os.WIFEXITED(status)


def kills_until_survival(live: Callable[[int], bool]) -> int:
    kills = 0
    while not live(kills):
        kills += 1
    return kills


def main() -> None:
    output = Path(sys.argv[1])
    chance = random.Random("kill")
    lives: dict[str, Callable[[int], bool]] = {
        "undisturbed": lambda _: survives(output / "undisturbed"),
        "files": lambda kills: survives(output / "files", operation=kills + 1),
        # Longer and longer, so that a slow machine comes to the end too; but not at once.
        "moments": lambda kills: survives(
            output / "moments", moment=chance.uniform(0.03, 0.1) * 1.25**kills
        ),
    }
    print(json.dumps({name: kills_until_survival(live) for name, live in lives.items()}))


if __name__ == "__main__":
    main()
