"""SWA: stochastic weight averaging.

Izmailov, Podoprikhin, Garipov, Vetrov, Wilson: Averaging Weights Leads to Wider Optima and Better
Generalization, UAI 2018, arXiv 1803.05407 (algorithm 1); the average and the renewal of batch-norm
statistics are torch's own.

After the part `start` of all steps the learning rate follows cycles of c steps; step i, from 1 on,
has

    t(i) = ((i - 1) mod c + 1) / c,    rate(i) = (1 - t(i)) * first_rate + t(i) * rate

(constant where both are equal) and at the end of each cycle the weights join the mean

    average = (average * n + weights) / (n + 1)

The average is what is validated and saved; training goes on with the weights themselves.
Next to no time, and memory for one more copy of the weights (two while validating).
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, cast

import torch
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveInt
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, update_bn

from factloom.errors import Place, RecipeError
from factloom.layouts.batching import batches
from factloom.training.plugin import Plugin
from factloom.training.step import Step
from factloom.training.trainer import Trainer

STEPS_OF_STREAM = 100  # that renew batch-norm statistics, where the training examples have no end


class SwaSettings(BaseModel):
    """When weights are collected, and the learning rate meanwhile."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: float = Field(0.75, ge=0, lt=1, description="Part of all steps before the first cycle.")
    cycle: PositiveInt = Field(1, description="Steps from one collected weight to the next.")
    rate: NonNegativeFloat = Field(
        0.25, description="Part of the highest learning rate that a cycle ends with."
    )
    first_rate: NonNegativeFloat | None = Field(
        None, description="Part that a cycle comes down from; `rate`, a constant, if absent."
    )


class StochasticWeightAveraging(Plugin):
    """Validates and saves the mean of the weights along the last part of the training."""

    settings: SwaSettings
    weights: nn.ParameterList  # the very parameters of the model
    average: AveragedModel  # of a module that holds nothing but those
    kept: dict[str, Tensor] | None = None  # the model's own state while the average is in it

    def __init__(self, settings: SwaSettings) -> None:
        self.settings = settings

    def on_start(self, trainer: Trainer) -> None:
        self.before = int(trainer.total_steps * self.settings.start)
        if trainer.total_steps - self.before < self.settings.cycle:
            raise RecipeError(
                "no-whole-cycle",
                Place(part="plugins.swa.cycle"),
                steps=trainer.total_steps - self.before,
                cycle=self.settings.cycle,
            )
        self.weights = nn.ParameterList(trainer.model.parameters())
        self.average = AveragedModel(self.weights)

    def before_step(self, trainer: Trainer, step: Step) -> None:
        if step.number > self.before:
            factor = cycle_rate(step.number - self.before, self.settings)
            for group in trainer.optimizer.param_groups:
                group["lr"] = group["rate"] * factor

    def after_step(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        done = step.number - self.before
        if done > 0 and done % self.settings.cycle == 0:
            self.average.update_parameters(self.weights)

    def before_validation(self, trainer: Trainer) -> None:
        if self._collected():
            state = trainer.model.state_dict()
            self.kept = {name: value.clone() for name, value in state.items()}
            self._put_average_in(trainer)

    def after_validation(self, trainer: Trainer) -> None:
        if self.kept is not None:
            trainer.model.load_state_dict(self.kept)
            self.kept = None

    def on_end(self, trainer: Trainer) -> None:
        if self._collected():
            self._put_average_in(trainer)

    def state_dict(self) -> dict[str, Any]:
        return {"average": self.average.state_dict()} if self._collected() else {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if state:
            self.average.load_state_dict(state["average"])

    def _collected(self) -> bool:
        return bool(self.average.n_averaged > 0)

    @torch.no_grad()
    def _put_average_in(self, trainer: Trainer) -> None:
        averages = self.average.module.parameters()
        for weight, average in zip(self.weights, averages, strict=True):
            weight.copy_(average)
        update_bn(_training_batches(trainer), trainer.model)


def cycle_rate(step: int, settings: SwaSettings) -> float:
    """The part of the highest learning rate that step `step` (from 1) of all cycles is given."""
    first = settings.rate if settings.first_rate is None else settings.first_rate
    done = ((step - 1) % settings.cycle + 1) / settings.cycle
    return (1 - done) * first + done * settings.rate


def _training_batches(trainer: Trainer) -> Iterator[Any]:
    """All training examples, or some of a stream; without batch norm nobody asks for them."""
    source, collate = trainer.source, cast(Any, trainer.model).collate
    steps = source.steps(0, trainer.step_size, trainer.settings.seed)
    some = islice(steps, trainer.steps_of_epoch or STEPS_OF_STREAM)
    numbers = sorted(number for step in some for number in step)
    for examples in batches([source[number] for number in numbers], trainer.step_maker.budget):
        batch = collate(examples)
        if batch.weight:
            yield batch.to(trainer.accelerator.device)


PLUGIN, SETTINGS = StochasticWeightAveraging, SwaSettings
