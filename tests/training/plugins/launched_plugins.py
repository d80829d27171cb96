"""Started by test_plugin_processes.py with `accelerate launch`, on one process or two.

    accelerate launch --num_processes 2 launched_plugins.py OUTPUT BATCH_SIZE

OUTPUT/fgm and so on are trainings with one plug-in each.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from accelerate import PartialState
from mention_typing import trainer_of

from factloom.training import reporting

PLUGINS: dict[str, dict[str, Any]] = {
    "fgm": {"epsilon": 3.0},
    "fgsm": {"epsilon": 0.1},
    "pgd": {"epsilon": 3.0, "steps": 2},
    "swa": {"start": 0.3},
    "vat": {},
}


def train_all(output: Path, batch_size: int) -> None:
    # One document is left for the last step, so that one of two processes has none. Batches of
    # few mentions give the processes unlike numbers of batches.
    for name, settings in PLUGINS.items():
        sizes = {"train": 9, "epochs": 2, "batch_size": batch_size, "batch_terms": 40}
        trainer_of(output / name, {name: settings}, **sizes).train()


if __name__ == "__main__":
    reporting.draw_curves = lambda *_: None  # it takes longer than all the rest
    train_all(Path(sys.argv[1]), int(sys.argv[2]))
    PartialState().wait_for_everyone()  # nobody leaves while another is at work
