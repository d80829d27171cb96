"""PGD: projected gradient descent on word embeddings.

Madry, Makelov, Schmidt, Tsipras, Vladu: Towards Deep Learning Models Resistant to Adversarial
Attacks, ICLR 2018, arXiv 1706.06083; here in the Euclidean norm on the table of embeddings E.

    r_0 = 0,   r_k = project(r_(k-1) + alpha * g_k / ||g_k||)      g_k = dL(E + r_(k-1))
    project(r) = r * min(1, epsilon / ||r||)                       onto the ball around E
    gradient = dL(E) + dL(E + r_K)                                 those between are forgotten

`steps` more forward and backward passes a step, and memory for one more gradient of the model.
Each table has its own r, and norms are those of the whole table. With one step and
alpha = epsilon this is FGM.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt
from torch import Tensor, nn

from factloom.training.embeddings import gradient_direction, restored, trainable_tables
from factloom.training.plugin import Plugin
from factloom.training.step import Step
from factloom.training.trainer import Trainer


class PgdSettings(BaseModel):
    """How far the embeddings are moved, in how many steps, and which ones."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epsilon: PositiveFloat = Field(1.0, description="Radius of the ball around the embeddings.")
    alpha: PositiveFloat = Field(0.3, description="Length of one small step.")
    steps: PositiveInt = Field(3, description="Number K of small steps.")
    embeddings: str | None = Field(
        None, description="Part of a table's name; the encoder's word embeddings if absent."
    )


class ProjectedGradientDescent(Plugin):
    """Adds the gradient at the worst embeddings that K small steps find in a ball."""

    settings: PgdSettings
    tables: list[Tensor]

    def __init__(self, settings: PgdSettings) -> None:
        self.settings = settings

    def on_start(self, trainer: Trainer) -> None:
        self.tables = trainable_tables(trainer.model, self.settings.embeddings, "pgd")

    def after_backward(self, trainer: Trainer, step: Step) -> None:
        with restored(self.tables) as clean:
            with _kept_gradients(trainer.model):
                self._move(clean)  # by the clean gradient
                for _ in range(self.settings.steps - 1):
                    trainer.model.zero_grad()
                    trainer.backward(step)
                    self._move(clean)
            trainer.backward(step)  # adds to the clean gradient

    @torch.no_grad()
    def _move(self, clean: Sequence[Tensor]) -> None:
        """A small step uphill, and back to the ball where it left it."""
        for table, centre in zip(self.tables, clean, strict=True):
            direction = gradient_direction(table)
            if direction is not None:
                moved = (table - centre).add_(direction, alpha=self.settings.alpha)
                table.copy_(centre + projected(moved, self.settings.epsilon))


def projected(moved: Tensor, radius: float) -> Tensor:
    """The nearest point of the ball around 0."""
    norm = float(moved.norm())
    return moved if norm <= radius else moved * (radius / norm)


@contextmanager
def _kept_gradients(model: nn.Module) -> Iterator[None]:
    """The gradients of before come back; those made inside, after `zero_grad`, are forgotten."""
    parameters = list(model.parameters())
    gradients = [parameter.grad for parameter in parameters]
    try:
        yield
    finally:
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient


PLUGIN, SETTINGS = ProjectedGradientDescent, PgdSettings
