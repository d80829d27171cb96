"""Knowledge distillation: a student learns from what a trained teacher says.

Hinton, Vinyals, Dean: Distilling the Knowledge in a Neural Network, 2015, arXiv 1503.02531. With
logits divided by a temperature T, which shows more of what the teacher holds for possible:

    L = L_student + lambda T^2 KL(teacher / T || student / T)

For every relation model; the teacher has to read the same tokens and know the same relations. Of a
pair of which a document tells something and leaves the rest unknown, as people's corrections do,
what is told is taken out of both sides: the teacher speaks of the rest alone. With the model that
a training starts from as teacher, what nobody has corrected stays as it was (Li, Hoiem: Learning
without Forgetting, ECCV 2016, arXiv 1606.09282).
"""

import dataclasses
from typing import Any

import torch
import torch.nn.functional as F
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat
from torch import nn

from factloom.errors import Place, RecipeError
from factloom.files.data_path import data_path
from factloom.models.storage import load
from factloom.training.plugin import Plugin
from factloom.training.trainer import Trainer

IMPOSSIBLE = -1e4  # a logit of probability 0, which takes no part in a divergence


class DistillationSettings(BaseModel):
    """Whom to learn from, and how much."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    teacher: str = Field(description="Directory or hub name of a trained relation model.")
    weight: NonNegativeFloat = Field(1.0, description="lambda: weight of the teacher's word.")
    temperature: PositiveFloat = Field(1.0, description="T: above 1 also small chances count.")


class Distillation(Plugin):
    """Adds the divergence from a saved teacher to every batch."""

    settings: DistillationSettings

    def __init__(self, settings: DistillationSettings) -> None:
        self.settings = settings

    def on_start(self, trainer: Trainer) -> None:
        require_relation_model(trainer.model, "distillation")
        teacher = load(data_path(self.settings.teacher))
        self._require_same_view(teacher, trainer.model)
        self.teacher = teacher.to(trainer.accelerator.device).requires_grad_(False)

    def after_forward(self, trainer: Trainer, batch: Any, output: Any) -> Any:
        model: Any = trainer.model
        with torch.no_grad(), trainer.accelerator.autocast():
            target = self.teacher(batch).logits  # (pairs, classes)
        temperature = self.settings.temperature
        told = F.pad(batch.decided, (model.rule.extra_classes, 0))  # (pairs, classes)
        divergence = model.rule.divergence(
            (target / temperature).masked_fill(told, IMPOSSIBLE),
            (output.logits / temperature).masked_fill(told, IMPOSSIBLE),
        )
        divergence = divergence.sum() / batch.weight  # as the loss is
        loss = output.loss + self.settings.weight * temperature**2 * divergence
        return dataclasses.replace(output, loss=loss)

    def _require_same_view(self, teacher: Any, model: Any) -> None:
        """The student's batches have to mean the same to the teacher."""
        require_relation_model(teacher, "distillation")
        differences = {
            "relations": teacher.relations != model.relations,
            "threshold": type(teacher.rule) is not type(model.rule),
            "marker": _marker(teacher) != _marker(model),
            "types": getattr(teacher, "types", ()) != getattr(model, "types", ()),
            "tokens": teacher.encoder.tokenizer.get_vocab() != model.encoder.tokenizer.get_vocab(),
            "special tokens": teacher.encoder.special != model.encoder.special,
            "window": teacher.encoder.window < model.encoder.window,  # cannot read as far
        }
        other = ", ".join(name for name, differs in differences.items() if differs)
        if other:
            place = Place(part="plugins.distillation.teacher")
            raise RecipeError("other-teacher", place, teacher=self.settings.teacher, other=other)


def _marker(model: Any) -> str | None:
    """Models that read the bare text have none."""
    marker: str | None = getattr(model.settings, "marker", None)
    return marker


def require_relation_model(model: nn.Module, plugin: str) -> None:
    """The plug-in compares what two relation models say about the same pairs."""
    if not hasattr(model, "rule") or not hasattr(model, "relations"):
        kind = type(model).__name__
        raise RecipeError("not-a-relation-model", Place(part=f"plugins.{plugin}"), kind=kind)


PLUGIN, SETTINGS = Distillation, DistillationSettings
