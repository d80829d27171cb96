"""One training step in float64, watched from outside, and what it should be by plain autograd."""

import math
from pathlib import Path
from typing import Any

import torch
from mention_typing import MentionTyping, documents, trainer_of
from torch import Tensor

from factloom.training.plugin import Plugin
from factloom.training.step import Step
from factloom.training.trainer import Trainer

TABLE = "words.weight"
PARTS = 3  # batches that the step is cut into
Weights = dict[str, Tensor]


class Watch(Plugin):
    """Behind the plug-in under test: the table in every pass, and the gradient in the end."""

    def __init__(self) -> None:
        self.tables: list[Tensor] = []
        self.gradients: Weights = {}
        self.after: Weights = {}

    def before_forward(self, trainer: Trainer, batch: Any) -> None:  # noqa: ARG002
        self.tables.append(trainer.model.words.weight.detach().clone())

    def after_backward(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        weights = trainer.model.named_parameters()
        self.gradients = {name: w.grad.clone() for name, w in weights if w.grad is not None}
        self.after = {name: value.clone() for name, value in trainer.model.state_dict().items()}

    @property
    def moves(self) -> list[Tensor]:
        """How far each pass over the step had moved the table."""
        return [table - self.tables[0] for table in self.tables[::PARTS]]


def watched_step(output: Path, tables: dict[str, dict[str, Any]]) -> Watch:
    """One step of six documents, in batches of two."""
    watch = Watch()
    model = MentionTyping().double()
    sizes = {"epochs": 1, "batch_size": 2, "accumulation": PARTS}
    trainer = trainer_of(output, tables, watch, model=model, train=2 * PARTS, **sizes)
    trainer.train()
    assert trainer.progress.step == 1
    return watch


def first_weights() -> Weights:
    return MentionTyping().double().state_dict()


def plain_gradients(weights: Weights) -> Weights:
    """Of the mean loss over all mentions of the six documents, at these weights."""
    model = MentionTyping().double()
    model.load_state_dict(weights)
    model(model.collate(model.prepare(documents("train")[: 2 * PARTS]))).loss.backward()
    return {name: w.grad for name, w in model.named_parameters() if w.grad is not None}


def moved_by(change: Tensor) -> Weights:
    weights = first_weights()
    return {**weights, TABLE: weights[TABLE] + change}


def length(vector: Tensor) -> float:
    return math.sqrt(sum(number * number for number in vector.flatten().tolist()))


def assert_sum(found: Weights, *parts: Weights) -> None:
    """The gradients are the sums of those of the parts, for every weight of the model."""
    assert set(found) == set(parts[0])
    for name, gradient in found.items():
        expected = torch.stack([part[name] for part in parts]).sum(0)
        torch.testing.assert_close(gradient, expected, rtol=1e-9, atol=1e-12)
