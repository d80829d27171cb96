"""FGM: the fast gradient method on word embeddings.

Miyato, Dai, Goodfellow: Adversarial Training Methods for Semi-Supervised Text Classification,
ICLR 2017, arXiv 1605.07725; here on the table of embeddings, once a step.

    r = epsilon * g / ||g||           g = gradient of the step's loss by the embedding table E
    gradient = dL(E) + dL(E + r)      clean and adversarial gradients add up

One more forward and backward pass a step. Each table has its own r and the norm is that of the
whole table, so that epsilon is shared by all words of the step.
"""

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat
from torch import Tensor

from factloom.training.embeddings import add_gradient_of_moved, trainable_tables
from factloom.training.plugin import Plugin
from factloom.training.step import Step
from factloom.training.trainer import Trainer


class FgmSettings(BaseModel):
    """How far the embeddings are moved, and which ones."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epsilon: PositiveFloat = Field(1.0, description="Length of the step: the norm of r.")
    embeddings: str | None = Field(
        None, description="Part of a table's name; the encoder's word embeddings if absent."
    )


class FastGradientMethod(Plugin):
    """Adds the gradient at the embeddings that are worst to first order."""

    settings: FgmSettings
    tables: list[Tensor]

    def __init__(self, settings: FgmSettings) -> None:
        self.settings = settings

    def on_start(self, trainer: Trainer) -> None:
        self.tables = trainable_tables(trainer.model, self.settings.embeddings, "fgm")

    def after_backward(self, trainer: Trainer, step: Step) -> None:
        epsilon = self.settings.epsilon
        add_gradient_of_moved(trainer, step, self.tables, lambda direction: epsilon * direction)


PLUGIN, SETTINGS = FastGradientMethod, FgmSettings
