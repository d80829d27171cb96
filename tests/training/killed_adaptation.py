"""Runs the small loop in child processes that are killed, for test_adaptive_dictionary.py.

    python killed_adaptation.py FOLDER ENCODER

makes FOLDER/undisturbed and FOLDER/killed, which dies again and again when it is about to change
the disk, and prints the number of kills. Children are forked: torch is imported once.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import torch._dynamo  # the optimizer imports it: once here, not in every child
import torch.utils.tensorboard  # noqa: F401  as above
from small_dictionary import small_recipe

from factloom.training import reporting
from factloom.training.adaptive_dictionary import AdaptiveDictionary

EPOCHS = 16  # enough to find new names


def adapt(folder: Path, output: Path, encoder: Path) -> None:
    reporting.draw_curves = lambda *_: None  # it takes longer than all the rest
    recipe = small_recipe(folder, encoder, EPOCHS, rounds=2)
    AdaptiveDictionary(recipe, output, resume=True).run()


def die_at_rename(number: int) -> None:
    """Kill this process when it is about to give a file or directory its name."""
    left = iter(range(number - 1, -1, -1))

    def deadly(operation: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **options: object) -> object:
            if next(left) == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return operation(*arguments, **options)

        return counted

    for name in ("rename", "replace"):
        setattr(os, name, deadly(getattr(os, name)))


def survives(folder: Path, output: Path, encoder: Path, operation: int | None = None) -> bool:
    child = os.fork()
    if child == 0:
        if operation is not None:
            die_at_rename(operation)
        try:
            adapt(folder, output, encoder)
        except BaseException as error:
            print(f"child failed: {error!r}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        sys.exit("a resumed loop failed")
    return os.WIFEXITED(status)


def main() -> None:
    folder, encoder = Path(sys.argv[1]), Path(sys.argv[2])
    survives(folder, folder / "undisturbed", encoder)
    kills = 0
    while not survives(folder, folder / "killed", encoder, operation=3 * kills + 1):
        kills += 1
    print(kills)


if __name__ == "__main__":
    main()
