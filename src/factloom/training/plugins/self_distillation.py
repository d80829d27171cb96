"""Self-distillation: a model that reasons learns to infer what it cannot see.

Zhang et al.: Exploring Self-Distillation Based Relational Reasoning Training for Document-Level
Relation Extraction, AAAI 2023. Both branches share their weights; test time knows only the second.

    first branch    the features of some pairs are replaced by a learned mask vector
    second branch   everything is in sight: the model as it is
    L = L_second + w L_first + lambda (KL(first || second) + KL(second || first)) / 2

The part of pairs that are hidden grows with the training step t of T (curriculum):

    gamma_t = min(gamma_max, t / T)

Options of the authors' code, off by default, each a term more:

    teacher   v KL(teacher || first): reasoning layers that are a running average of the model's
              (mean teacher; Tarvainen, Valpola, NeurIPS 2017) see everything, too
    cosine    u (1 - cos(first, target)) of the refined features, 0 for pairs in sight; the target
              is the teacher or else the second branch, and learns nothing from it

All terms are means over the pairs.

The encoder runs once a step; what is done twice, or with a teacher three times, is the reasoning.
"""

import copy
import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import torch
import torch.nn.functional as F
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat
from torch import Tensor, nn

from factloom.errors import Place, RecipeError
from factloom.models.docre_sd import DocreSd, DocreSdOutput, ReasonedScores
from factloom.modules.marked_batch import MarkedBatch
from factloom.modules.thresholds import symmetric_divergence
from factloom.training.plugin import Plugin
from factloom.training.step import Step
from factloom.training.trainer import Trainer

Rate = Annotated[float, Field(ge=0, le=1)]


class SelfDistillationSettings(BaseModel):
    """How much is hidden, and what each term counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    largest_rate: Rate = Field(0.5, description="gamma_max: the largest part of hidden pairs.")
    curriculum: Literal["linear", "constant"] = Field(
        "linear", description="The rate grows from 0, or (ablation) is the largest all the time."
    )
    unrelated_part: Rate = Field(
        1.0, description="Pairs without a relation are hidden at this part of the rate."
    )
    masked_weight: NonNegativeFloat = Field(1.0, description="w: weight of the first branch.")
    divergence_weight: NonNegativeFloat = Field(1.0, description="lambda: weight of the KL term.")
    teacher_decay: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        None, description="Decay of the averaged teacher, such as 0.99. No such teacher if absent."
    )
    teacher_weight: NonNegativeFloat = Field(1.0, description="v: weight of the teacher's word.")
    cosine_weight: NonNegativeFloat = Field(0.0, description="u: weight of the cosine term.")


class SelfDistillation(Plugin):
    """Adds the branch with hidden pairs to every step of a `docre_sd` model."""

    settings: SelfDistillationSettings
    teacher: nn.ModuleList | None = None  # reasoning layers

    def __init__(self, settings: SelfDistillationSettings) -> None:
        self.settings = settings

    def on_start(self, trainer: Trainer) -> None:
        if not isinstance(trainer.model, DocreSd) or not trainer.model.settings.layers:
            raise RecipeError("cannot-reason", Place(part="plugins.self_distillation"))
        if self.settings.teacher_decay is not None:
            self.teacher = copy.deepcopy(trainer.model.reasoning).eval().requires_grad_(False)

    def after_forward(
        self, trainer: Trainer, batch: MarkedBatch, output: DocreSdOutput
    ) -> DocreSdOutput:
        settings, model = self.settings, trainer.model
        assert isinstance(model, DocreSd)
        hidden = self._hidden(batch.labels, self.rate(trainer.progress.step, trainer.total_steps))
        with trainer.accelerator.autocast():  # as the second branch, which the trainer has run
            masked = model.reason_with_hidden(output.scores, hidden)
            target = self._target(model, output.scores)
            loss = model.rule.loss(masked.logits, batch.labels, batch.unknown)  # (pairs,)
        terms = settings.masked_weight * loss
        terms = terms + settings.divergence_weight * symmetric_divergence(
            model.rule, masked.logits, output.logits
        )
        if self.teacher is not None:
            terms = terms + settings.teacher_weight * model.rule.divergence(
                target.logits, masked.logits
            )
        if settings.cosine_weight:
            alike = F.cosine_similarity(masked.features[-1], target.features[-1])
            terms = terms + settings.cosine_weight * hidden * (1 - alike)
        return dataclasses.replace(output, loss=output.loss + terms.sum() / batch.weight)

    def rate(self, step: int, steps: int) -> float:
        """gamma_t after `step` of `steps` updates."""
        if self.settings.curriculum == "constant":
            return self.settings.largest_rate
        return min(self.settings.largest_rate, step / steps)

    def _hidden(self, labels: Tensor, rate: float) -> Tensor:
        """bool (pairs, relations) -> which pairs to hide, bool (pairs,)"""
        rates = torch.where(labels.any(1), rate, rate * self.settings.unrelated_part)
        return torch.rand(len(labels), device=labels.device) < rates

    @torch.no_grad()
    def _target(self, model: DocreSd, scores: ReasonedScores) -> ReasonedScores:
        """What the teacher says of pairs that are all in sight; without one, the model itself."""
        if self.teacher is None:
            features = tuple(each.detach() for each in scores.features)
            return dataclasses.replace(scores, logits=scores.logits.detach(), features=features)
        return model.reason(scores.features[0], scores.attention, scores.matrix, self.teacher)

    @torch.no_grad()
    def after_step(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        if self.teacher is not None and self.settings.teacher_decay is not None:
            assert isinstance(trainer.model, DocreSd)
            _move_towards(self.teacher, trainer.model.reasoning, 1 - self.settings.teacher_decay)

    def state_dict(self) -> dict[str, Any]:
        return {} if self.teacher is None else {"teacher": self.teacher.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if self.teacher is not None:
            self.teacher.load_state_dict(state["teacher"])


def _move_towards(average: nn.Module, model: nn.Module, part: float) -> None:
    """average += part (model - average), weight by weight."""
    for mean, value in zip(average.parameters(), model.parameters(), strict=True):
        mean.lerp_(value.detach(), part)


PLUGIN, SETTINGS = SelfDistillation, SelfDistillationSettings
