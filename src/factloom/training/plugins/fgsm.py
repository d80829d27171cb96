"""FGSM: the fast gradient sign method on word embeddings.

Goodfellow, Shlens, Szegedy: Explaining and Harnessing Adversarial Examples, ICLR 2015,
arXiv 1412.6572; here on the table of embeddings, once a step.

    r = epsilon * sign(g)             g = gradient of the step's loss by the embedding table E
    gradient = dL(E) + dL(E + r)      clean and adversarial gradients add up

One more forward and backward pass a step. Unlike with FGM every number of every word in the step
moves by epsilon, however many words there are.
"""

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat
from torch import Tensor

from factloom.training.embeddings import add_gradient_of_moved, trainable_tables
from factloom.training.plugin import Plugin
from factloom.training.step import Step
from factloom.training.trainer import Trainer


class FgsmSettings(BaseModel):
    """How far the embeddings are moved, and which ones."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epsilon: PositiveFloat = Field(0.01, description="How far each number of the table is moved.")
    embeddings: str | None = Field(
        None, description="Part of a table's name; the encoder's word embeddings if absent."
    )


class FastGradientSignMethod(Plugin):
    """Adds the gradient at the corner of the box around the embeddings that is worst."""

    settings: FgsmSettings
    tables: list[Tensor]

    def __init__(self, settings: FgsmSettings) -> None:
        self.settings = settings

    def on_start(self, trainer: Trainer) -> None:
        self.tables = trainable_tables(trainer.model, self.settings.embeddings, "fgsm")

    def after_backward(self, trainer: Trainer, step: Step) -> None:
        epsilon = self.settings.epsilon
        add_gradient_of_moved(
            trainer, step, self.tables, lambda direction: epsilon * direction.sign()
        )


PLUGIN, SETTINGS = FastGradientSignMethod, FgsmSettings
