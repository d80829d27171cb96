"""Started by test_processes.py with `accelerate launch`, on one process or two.

    accelerate launch --num_processes 2 --cpu launched_training.py OUTPUT BATCH_SIZE

OUTPUT/plain is a training of the toy model, OUTPUT/contiguous and OUTPUT/stream are trainings on
other sources, OUTPUT/adversarial one with a plug-in that runs every
step twice, OUTPUT/undisturbed one with dropout, and OUTPUT/resumed the same, interrupted and
resumed.
"""

import sys
from contextlib import suppress
from pathlib import Path

from accelerate import PartialState
from toy_model import Interrupt, ToyModel, negative_error, toy_examples, toy_settings, toy_source

from factloom.training import reporting
from factloom.training.plugin import Plugin
from factloom.training.step import Step
from factloom.training.trainer import Trainer


class Again(Plugin):
    """Adds the gradient of other weights, as adversarial training does."""

    def after_backward(self, trainer: Trainer, step: Step) -> None:
        weight = trainer.model.head.weight.data
        weight += 0.1
        trainer.backward(step)
        weight -= 0.1


def train_all(output: Path, batch_size: int) -> None:
    # One document is left for the last step, so that one of two processes has none. Batches of
    # few pairs give the processes unlike numbers of batches.
    examples = toy_examples(4 * 2 + 1)
    settings = toy_settings(batch_size=batch_size, batch_terms=9)

    def train(name: str, model: ToyModel, plugin: Plugin) -> None:
        trainer = Trainer(model, examples, settings, output / name, negative_error, [plugin])
        trainer.train(resume=True)

    train("plain", ToyModel(), Plugin())
    for name in ("contiguous", "stream"):
        steps = toy_settings(batch_size=batch_size, steps=7)
        Trainer(ToyModel(), toy_source(name), steps, output / name).train(resume=True)
    train("adversarial", ToyModel(), Again())
    train("undisturbed", ToyModel(dropout=0.5), Interrupt(step=-1))
    with suppress(KeyboardInterrupt):
        train("resumed", ToyModel(dropout=0.5), Interrupt(step=5))
        raise AssertionError("not interrupted")
    train("resumed", ToyModel(dropout=0.5), Interrupt(step=-1))


if __name__ == "__main__":
    reporting.draw_curves = lambda *_: None  # it takes longer than all the rest
    train_all(Path(sys.argv[1]), int(sys.argv[2]))
    PartialState().wait_for_everyone()  # nobody leaves while another is at work
