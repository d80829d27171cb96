"""Intervention: which blocks of a long text are relevant, learned from the reasoner's loss alone.

Ding, Zhou, Yang, Tang: CogLTX: Applying BERT to Long Texts, NeurIPS 2020, section 3.3. For a model
of the kind cogltx and questions of which nobody has said what proves the answer. After a step, each
block that the reasoner has read is left out once:

    rise = loss of the reasoner without the block - loss with all
    rise > raise_above    the block's level goes up
    rise < lower_below    it goes down; a block is relevant from level 1 on

The judge learns these labels at the question's next turn. The authors' code begins only behind as
many epochs as it trains by default, and cuts the rises to whole numbers; here it begins with the
epoch `first_epoch`, and rises are compared as they are.
"""

from collections.abc import Mapping
from typing import Any, cast

import torch
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from factloom.errors import Place, RecipeError
from factloom.modules.relevance_levels import Levels, move_levels
from factloom.training.plugin import Plugin
from factloom.training.processes import from_all
from factloom.training.step import Step
from factloom.training.trainer import Trainer


class InterventionSettings(BaseModel):
    """What a change of the loss says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    raise_above: float = Field(0.2, description="t_up: a rise beyond it makes more relevant.")
    lower_below: float = Field(-0.05, description="t_down: a fall beyond it makes less relevant.")
    first_epoch: NonNegativeInt = Field(
        1, description="The epoch, from 0, with which it begins: the reasoner learns first."
    )


class Intervention(Plugin):
    """Changes the levels of blocks by what leaving them out does to the reasoner."""

    settings: InterventionSettings

    def __init__(self, settings: InterventionSettings) -> None:
        self.settings = settings
        self.levels: dict[str, Levels] = {}  # of each question, those of its blocks

    def on_start(self, trainer: Trainer) -> None:
        if not hasattr(trainer.model, "rises"):
            raise RecipeError("cannot-intervene", Place(part="plugins.intervention"))

    def before_step(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        """Another process, or one that was killed, may have changed the levels."""
        for question in _unlabelled(step):
            if question.key in self.levels:
                question.levels[:] = self.levels[question.key]

    def after_step(self, trainer: Trainer, step: Step) -> None:
        if trainer.progress.epoch < self.settings.first_epoch:
            return
        changed = {}
        for question in _unlabelled(step):
            blocks, rises = cast(Any, trainer.model).rises(question)
            up, down = self.settings.raise_above, self.settings.lower_below
            move_levels(question.levels, blocks, rises, up, down)
            changed[question.key] = question.levels
        for found in from_all(changed):
            self.levels.update(found)

    def state_dict(self) -> dict[str, Any]:
        return {key: torch.from_numpy(levels.copy()) for key, levels in self.levels.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.levels = {key: levels.numpy() for key, levels in state.items()}


def _unlabelled(step: Step) -> list[Any]:
    """The questions of this process of which nobody has said which blocks are relevant."""
    return [
        question for part in step.parts for question in part.batch.questions if question.guessed
    ]


PLUGIN, SETTINGS = Intervention, InterventionSettings
