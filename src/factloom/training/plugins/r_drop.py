"""R-Drop: two passes with different dropout have to agree.

Wu et al.: R-Drop: Regularized Dropout for Neural Networks, NeurIPS 2021, arXiv 2106.14448.

    L = (L_1 + L_2) / 2 + alpha (KL(p_1 || p_2) + KL(p_2 || p_1)) / 2

For every relation model. A step costs two passes through the encoder.
"""

import dataclasses
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat

from factloom.errors import Place, RecipeError
from factloom.modules.thresholds import symmetric_divergence
from factloom.training.plugin import Plugin
from factloom.training.plugins.distillation import require_relation_model
from factloom.training.trainer import Trainer


class RDropSettings(BaseModel):
    """How much the agreement counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weight: NonNegativeFloat = Field(1.0, description="alpha: weight of the KL term.")


class RDrop(Plugin):
    """Runs every batch a second time."""

    settings: RDropSettings

    def __init__(self, settings: RDropSettings) -> None:
        self.settings = settings

    def on_start(self, trainer: Trainer) -> None:
        require_relation_model(trainer.model, "r_drop")
        # what they have added to the loss would be halved with it
        for earlier in trainer.plugins[: trainer.plugins.index(self)]:
            if type(earlier).after_forward is not Plugin.after_forward:
                name = type(earlier).__module__.rpartition(".")[2]
                raise RecipeError("r-drop-behind", Place(part="plugins.r_drop"), other=name)

    def after_forward(self, trainer: Trainer, batch: Any, output: Any) -> Any:
        model: Any = trainer.model
        second = model(batch)
        divergence = symmetric_divergence(model.rule, output.logits, second.logits)  # (pairs,)
        divergence = divergence.sum() / batch.weight  # as the loss is
        loss = (output.loss + second.loss) / 2 + self.settings.weight * divergence
        return dataclasses.replace(output, loss=loss)


PLUGIN, SETTINGS = RDrop, RDropSettings
