"""Relation models of torch: training and prediction, and what both runtimes do alike.

What becomes of the scores of pairs: models/relation_decisions.py. A model brings `prepare`,
`collate` and `score(batch) -> PairScores`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from factloom.document import Document, Relation
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.layouts.batching import batches_by_length
from factloom.layouts.marked_documents import Integers, MarkedExample
from factloom.models import relation_decisions
from factloom.models.relation_decisions import (
    Booleans,
    PairReading,
    asked_classes,
    constrained,
    decide,
    holding,
)
from factloom.models.relation_settings import RelationSettings
from factloom.modules.calibration import calibrate_decisions
from factloom.modules.decisions import Floats, balanced_shift, highest
from factloom.modules.divergence import in_full
from factloom.modules.evaluating import evaluating
from factloom.modules.localized_context import evidence_divergence, pair_attention
from factloom.modules.marked_batch import MarkedBatch
from factloom.modules.numbers import numbers_of
from factloom.modules.thresholds import AdaptiveThreshold, GlobalThreshold


@dataclass(frozen=True, slots=True)
class PairScores:
    """What a model says about the pairs of a batch."""

    logits: Tensor  # (pairs, classes)
    attention: Tensor  # (entities, heads, length), what the evidence is read from


class ScoringModel(Protocol):
    """What decisions need of a model."""

    relations: tuple[str, ...]
    temperature: Tensor

    @property
    def settings(self) -> RelationSettings: ...

    @property
    def rule(self) -> AdaptiveThreshold | GlobalThreshold: ...

    def provenance_of(self, scores: Any, held: Tensor, /) -> list[dict[str, Any]]:
        """Where each relation comes from, in the order of `held` (pairs, relations)."""


class RelationModel(ScoringModel, Protocol):
    """What prediction and calibration need of a model that does nothing else."""

    encoder: Encoder

    def prepare(self, documents: Iterable[Document]) -> list[MarkedExample]: ...

    def collate(self, examples: Sequence[MarkedExample]) -> MarkedBatch: ...

    def score(self, batch: MarkedBatch) -> Any:
        """At least what `PairScores` has."""


def relations_to_learn(documents: Iterable[Document]) -> list[str]:
    """The relations that the documents have, sorted."""
    relations = sorted({r.type for document in documents for r in document.relations})
    if not relations:
        raise ModelError("no-relations-to-learn")
    return relations


def summed_loss(model: ScoringModel, scores: Any, batch: MarkedBatch) -> Tensor:
    """Of the relations of all pairs, of what is denied, and of the evidence of what has some."""
    loss = model.rule.loss(scores.logits, batch.labels, batch.unknown).sum()
    if model.settings.denied_weight and len(batch.denied):
        margins = model.rule.margins(in_full(scores.logits))[tuple(batch.denied.T)]  # (denied,)
        loss = loss + model.settings.denied_weight * F.softplus(margins).sum()
    if model.settings.evidence_weight and len(batch.evidence_pair):
        evidence = evidence_divergence(scores.attention, batch).sum()
        loss = loss + model.settings.evidence_weight * evidence
    return loss


def predict(
    model: RelationModel, documents: Iterable[Document], batch_tokens: int
) -> list[Document]:
    """The documents with their relations replaced by predicted ones.

    Documents of like length are put together, up to `batch_tokens` padded tokens; long ones are
    asked in stretches.
    """

    with evaluating(cast(nn.Module, model)):
        return relation_decisions.predict(
            model, documents, model.prepare, partial(relations_of, model), batch_tokens
        )


@torch.inference_mode()
def relations_of(
    model: RelationModel, documents: Sequence[Document], examples: Sequence[MarkedExample]
) -> list[tuple[Relation, ...]]:
    """The relations of documents that are scored together."""
    asked = asked_classes(model, documents, examples)
    batch = replace(model.collate(examples), asked=asked).to(model.temperature.device)
    reading = pair_reading(model, model.score(batch), batch)
    return decide(model, documents, examples, reading)


def pair_reading(model: ScoringModel, scores: Any, batch: MarkedBatch) -> PairReading:
    """What the scores say, in numbers."""
    return PairReading(
        margins=numbers_of(model.rule.margins(scores.logits)),
        slot_sentence=numbers_of(batch.slot_sentence),
        rows=partial(attention_rows, scores.attention),
        provenance=partial(_provenance, model, scores),
    )


def attention_rows(attention: Tensor, heads: Integers, tails: Integers) -> Floats:
    """q: (pairs, length)"""
    with torch.inference_mode():
        ends = (torch.from_numpy(entities).to(attention.device) for entities in (heads, tails))
        return numbers_of(pair_attention(attention, *ends))


def _provenance(model: ScoringModel, scores: Any, held: Booleans) -> list[dict[str, Any]]:
    with torch.inference_mode():
        return model.provenance_of(scores, torch.from_numpy(held).to(scores.logits.device))


def fit_scores(model: RelationModel, documents: Sequence[Document]) -> dict[str, float]:
    """Set the temperature (and thresholds to be fitted) by documents that were not trained on."""
    margins, labels = _all_margins(model, documents)
    gold = sum(len(document.relations) for document in documents)
    return fit_to_margins(model, margins, labels, gold)


def fit_to_margins(
    model: ScoringModel, margins: Floats, labels: Booleans, gold: int
) -> dict[str, float]:
    """What `fit_scores` does, from margins and labels of all pairs, (pairs, relations) twice."""
    if isinstance(model.rule, GlobalThreshold):
        logits = margins + float(model.rule.threshold)
        best = highest(logits, model.settings.most_relations)
        model.rule.fit(torch.from_numpy(best), torch.from_numpy(labels), gold)
        margins = logits - float(model.rule.threshold)
    if model.settings.balanced or model.settings.threshold_shift == "balanced":
        shift = balanced_shift(margins, model.settings.most_relations, gold)
        fitted_ones = {"threshold_shift": shift, "balanced": True}
        cast(Any, model).settings = model.settings.model_copy(update=fitted_ones)
    held = holding(model.settings, margins)
    fitted = calibrate_decisions(margins[held], labels[held])
    model.temperature.fill_(fitted["temperature"])
    return fitted


@torch.inference_mode()
def _all_margins(model: RelationModel, documents: Sequence[Document]) -> tuple[Floats, Booleans]:
    """Margins and labels of all pairs: (pairs, relations) twice; none of what is unknown."""
    examples = model.prepare(documents)
    none = np.zeros((0, len(model.relations)))  # the documents may have no pair at all
    margins, labels = [none], [none.astype(np.bool_)]
    with evaluating(cast(nn.Module, model)):
        for numbers in batches_by_length(examples, 4096):
            chosen = [examples[number] for number in numbers]
            batch = model.collate(chosen).to(model.temperature.device)
            of_batch = [documents[number] for number in numbers]
            margins.append(known_margins(model, model.score(batch).logits, batch, of_batch, chosen))
            labels.append(numbers_of(batch.labels))
    return np.concatenate(margins), np.concatenate(labels)


def known_margins(
    model: ScoringModel,
    logits: Tensor,
    batch: MarkedBatch,
    documents: Sequence[Document],
    examples: Sequence[MarkedExample],
) -> Floats:
    """(pairs, relations) minus infinity where types forbid a relation, and of what is unknown"""
    margins = constrained(model, numbers_of(model.rule.margins(logits)), documents, examples)
    return np.where(numbers_of(batch.unknown), -np.inf, margins)
