"""ATLOP: adaptive thresholding and localized context pooling.

Zhou, Huang, Ma, Huang: Document-Level Relation Extraction with Adaptive Thresholding and
Localized Context Pooling, AAAI 2021, arXiv 2010.11304. Evidence from the localized context:
Ma, Wang, Okazaki: DREEAM, EACL 2023, arXiv 2302.08675.

    mention   h_m = state of its opening marker
    entity    h_e = logsumexp over its mentions;    A_e = mean of their attention, a row a head
    context   q_(s,o) = norm(sum over heads of A_s * A_o),   c_(s,o) = H^T q_(s,o)
    pair      z_s = tanh(W_s [h_s; c]),   z_o = tanh(W_o [h_o; c])
    logits    l_r = sum over groups of z_s W_r z_o + b_r
    decision  every relation above the threshold class, at most `most_relations` of them
    evidence  the sentences that hold more than `evidence_threshold` of q_(s,o)
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveInt
from torch import Tensor, nn

from factloom.document import Document, Relation
from factloom.encoders.encoder import Encoder
from factloom.encoders.marked_documents import (
    MarkedBatch,
    MarkedExample,
    learn_type_constraints,
    make_batch,
    make_examples,
    type_mask,
)
from factloom.errors import ModelError
from factloom.evaluation.calibration import expected_calibration_error, fit_temperature
from factloom.evaluation.relations import Fact, evaluate
from factloom.models import storage
from factloom.models.batches import batches_by_length, evaluating
from factloom.modules.grouped_bilinear import GroupedBilinear
from factloom.modules.localized_context import pair_attention, pool_pairs
from factloom.modules.pooling import segment_logsumexp, segment_mean
from factloom.modules.thresholds import AdaptiveThreshold, GlobalThreshold, strongest

_POOLINGS = {"logsumexp": segment_logsumexp, "mean": segment_mean}
_THRESHOLDS = {"adaptive": AdaptiveThreshold, "global": GlobalThreshold}


@dataclass(frozen=True, slots=True)
class AtlopOutput:
    """The loss is the mean over the batch's pairs."""

    logits: Tensor  # (pairs, classes)
    loss: Tensor


@dataclass(frozen=True, slots=True)
class _Features:
    states: Tensor  # (documents, length, width)
    entities: Tensor  # (entities, width)
    attention: Tensor  # (entities, heads, length)


class AtlopSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: PositiveInt | None = Field(
        None, description="Size of the pair vectors z_s and z_o; the encoder's own by default."
    )
    block_size: PositiveInt = Field(64, description="Size of a group of the bilinear classifier.")
    threshold: Literal["adaptive", "global"] = Field(
        "adaptive", description="A threshold a pair, or (ablation) one for all, fitted on dev."
    )
    pooling: Literal["logsumexp", "mean"] = Field(
        "logsumexp", description="How the mentions of an entity are joined ('mean': ablation)."
    )
    context: bool = Field(True, description="Localized context pooling (off: ablation).")
    most_relations: PositiveInt = Field(
        4, description="Most relations of one pair: 4 on DocRED, 1 on CDR and GDA."
    )
    evidence_weight: NonNegativeFloat = Field(
        0.0,
        description="Weight of the evidence loss. It is summed over the pairs with gold evidence "
        "and divided by all pairs: DREEAM's 0.1, a mean over the few, is about 3 here.",
    )
    evidence_threshold: NonNegativeFloat = Field(
        0.2, description="Part of a pair's attention that makes a sentence its evidence."
    )
    type_constraints: Literal["none", "learned"] | dict[str, list[tuple[str, str]]] = Field(
        "none",
        description="Which (head type, tail type) a relation may have: any, those seen in the "
        "training data, or a table. A relation that the table lacks is never predicted.",
    )
    marker: str = Field("*", min_length=1, description="Put before and after every mention.")
    pair_elements: PositiveInt = Field(
        2**24, description="Bounds memory: heads x length x pairs laid out at once."
    )


class Atlop(nn.Module):
    """Relations between the entities of a document, each with a score and its evidence.

    >>> model = Atlop(Encoder.load("all-MiniLM-L6-v2"), ["P19", "P27"])  # doctest: +SKIP
    """

    settings: AtlopSettings
    temperature: Tensor  # of the scores; fitted on dev after training

    def __init__(
        self,
        encoder: Encoder,
        relations: Sequence[str],
        settings: AtlopSettings | None = None,
        *,
        relation_names: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        settings = settings or AtlopSettings()
        width = settings.width or encoder.width
        self.settings = settings
        self.relations = tuple(relations)
        self.relation_names = dict(relation_names or {})
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        inputs = encoder.width * (2 if settings.context else 1)
        self.head_projection = nn.Linear(inputs, width)
        self.tail_projection = nn.Linear(inputs, width)
        self.rule = _THRESHOLDS[settings.threshold]()
        classes = len(self.relations) + self.rule.extra_classes
        self.classifier = GroupedBilinear(width, settings.block_size, classes)
        self.register_buffer("temperature", torch.ones(()))

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: AtlopSettings,
        *,
        relation_names: Mapping[str, str] | None = None,
    ) -> Self:
        """An untrained model for the relations (and type constraints) that the documents have."""
        relations = sorted({r.type for document in documents for r in document.relations})
        if not relations:
            raise ModelError("no-relations-to-learn")
        if settings.type_constraints == "learned":
            constraints = learn_type_constraints(documents)
            settings = settings.model_copy(update={"type_constraints": constraints})
        return cls(encoder, relations, settings, relation_names=relation_names)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[MarkedExample]:
        """Mark and tokenise documents, once."""
        return make_examples(documents, self.encoder, self.relations, self.settings.marker)

    def collate(self, examples: Sequence[MarkedExample]) -> MarkedBatch:
        return make_batch(examples, self.encoder, len(self.relations))

    def forward(self, batch: MarkedBatch) -> AtlopOutput:
        features = self._features(batch)
        logits = self._logits(features, batch)
        loss = self.rule.loss(logits, batch.labels).mean()
        if self.settings.evidence_weight and len(batch.evidence_pair):
            evidence = self._evidence_loss(features, batch).sum() / batch.weight
            loss = loss + self.settings.evidence_weight * evidence
        return AtlopOutput(logits, loss)

    def _features(self, batch: MarkedBatch) -> _Features:
        encoded = self.encoder(batch.windows)
        mentions = encoded.states[batch.mention_document, batch.mention_slot]  # (mentions, width)
        return _Features(
            states=encoded.states,
            entities=_POOLINGS[self.settings.pooling](
                mentions, batch.mention_entity, batch.entities
            ),
            attention=segment_mean(encoded.attention, batch.mention_entity, batch.entities),
        )

    def _logits(self, features: _Features, batch: MarkedBatch) -> Tensor:
        """(pairs, classes); W [h; c] = W_h h + W_c c, the first once an entity."""
        width = self.encoder.width
        weights = torch.cat([self.head_projection.weight, self.tail_projection.weight])
        entity_part = features.entities @ weights[:, :width].t()  # (entities, 2 x pair width)
        heads, tails = entity_part.chunk(2, dim=1)
        # (pairs, pair width) from here on
        head = heads.index_select(0, batch.pair_head) + self.head_projection.bias
        tail = tails.index_select(0, batch.pair_tail) + self.tail_projection.bias
        if self.settings.context:
            context = pool_pairs(
                features.attention,
                features.states,
                batch.first,
                batch.second,
                batch.unordered_counts,
                self.settings.pair_elements,
            )
            # (unordered pairs, 2 x pair width), the same for both directions
            context_part = context @ weights[:, width:].t()
            context_part = context_part.index_select(0, batch.pair_unordered)
            head_context, tail_context = context_part.chunk(2, dim=1)
            head, tail = head + head_context, tail + tail_context
        logits: Tensor = self.classifier(head.tanh(), tail.tanh())
        return logits

    def _evidence_loss(self, features: _Features, batch: MarkedBatch) -> Tensor:
        """KL(uniform over gold evidence tokens || q), a number a pair with gold evidence."""
        pair = batch.evidence_pair
        rows = pair_attention(features.attention, batch.pair_head[pair], batch.pair_tail[pair])
        target = batch.evidence_target  # (pairs with evidence, length)
        divergence = torch.xlogy(target, target) - target * (rows + 1e-10).log()
        return divergence.sum(1)

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with their relations replaced by predicted ones.

        Documents of like length are put together, up to `batch_tokens` padded tokens.
        """
        kept = list(documents)
        examples = self.prepare(kept)
        found = [document.replace(relations=()) for document in kept]
        with evaluating(self):
            for numbers in batches_by_length(examples, batch_tokens):
                relations = self.relations_of(
                    [kept[number] for number in numbers], [examples[number] for number in numbers]
                )
                for number, predicted in zip(numbers, relations, strict=True):
                    found[number] = kept[number].replace(relations=predicted)
        return found

    @torch.inference_mode()
    def relations_of(
        self, documents: Sequence[Document], examples: Sequence[MarkedExample]
    ) -> list[tuple[Relation, ...]]:
        """The relations of documents that are scored together."""
        batch = self.collate(examples).to(self.temperature.device)
        features = self._features(batch)
        margins = self._margins(features, batch, documents, examples)
        held = strongest(margins, self.settings.most_relations)
        pairs, types = held.nonzero(as_tuple=True)  # (relations,) twice
        weights = self._sentence_weights(features, batch, pairs).cpu()
        scores = (margins[pairs, types] / self.temperature).sigmoid().tolist()
        owners = np.repeat(np.arange(len(examples)), [example.pairs for example in examples])
        ends = np.concatenate([example.pair_index for example in examples])
        found: list[list[Relation]] = [[] for _ in documents]
        for row, (pair, kind) in enumerate(zip(pairs.tolist(), types.tolist(), strict=True)):
            owner = int(owners[pair])
            relation = Relation(
                head=int(ends[pair, 0]),
                tail=int(ends[pair, 1]),
                type=self.relations[kind],
                score=scores[row],
                evidence=self._evidence(weights[row], len(documents[owner].sentences)),
                provenance={"model": "atlop"},
            )
            found[owner].append(relation)
        return [tuple(relations) for relations in found]

    def _margins(
        self,
        features: _Features,
        batch: MarkedBatch,
        documents: Sequence[Document],
        examples: Sequence[MarkedExample],
    ) -> Tensor:
        """Above 0 where a relation holds; minus infinity where the types forbid it."""
        margins: Tensor = self.rule.margins(self._logits(features, batch))  # (pairs, relations)
        constraints = self.settings.type_constraints
        if isinstance(constraints, str):
            return margins
        allowed = [
            type_mask(document, example.pair_index, self.relations, constraints)
            for document, example in zip(documents, examples, strict=True)
        ]
        forbidden = ~torch.cat(allowed).to(margins.device)
        return margins.masked_fill(forbidden, -torch.inf)

    def _sentence_weights(self, features: _Features, batch: MarkedBatch, pairs: Tensor) -> Tensor:
        """How much of q_(s,o) lies in each sentence: (chosen pairs, sentences)."""
        heads, tails = batch.pair_head[pairs], batch.pair_tail[pairs]
        rows = pair_attention(features.attention, heads, tails)  # (chosen pairs, length)
        sentence = batch.slot_sentence[batch.entity_document[heads]]  # (chosen pairs, length)
        # the first column takes up what is outside of all sentences and is cut off
        weights = rows.new_zeros(len(rows), int(batch.slot_sentence.max()) + 2)
        return weights.scatter_add(1, sentence + 1, rows)[:, 1:]

    def _evidence(self, weights: Tensor, sentences: int) -> tuple[int, ...]:
        """The sentences above the threshold; the strongest one where none is."""
        if sentences == 0:
            return ()
        above = (
            (weights[:sentences] > self.settings.evidence_threshold).nonzero().flatten().tolist()
        )
        return tuple(above) or (int(weights[:sentences].argmax()),)

    # --- measuring -----------------------------------------------------------------------------

    def evaluate(
        self, documents: Sequence[Document], train_facts: AbstractSet[Fact] | None = None
    ) -> dict[str, float]:
        """The scores that training watches and reports; Ign F1 where train facts are given."""
        report = evaluate(documents, self.predict(documents), train_facts)
        scores = {
            "f1": report.f1,
            "precision": report.precision,
            "recall": report.recall,
            "intra_f1": report.intra_f1,
            "inter_f1": report.inter_f1,
            "evidence_f1": report.evidence_f1,
        }
        return scores if report.ign_f1 is None else scores | {"ign_f1": report.ign_f1}

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set the temperature (and a global threshold) by documents that were not trained on."""
        margins, labels = self._all_margins(documents)
        if isinstance(self.rule, GlobalThreshold):
            gold = sum(len(document.relations) for document in documents)
            logits = margins + self.rule.threshold.cpu()
            self.rule.fit(logits, labels, gold)
            margins = logits - self.rule.threshold.cpu()
        held = strongest(margins, self.settings.most_relations)
        shown, right = margins[held].double().numpy(), labels[held].numpy()
        # one more right and one more wrong decision at the mean margin (rule of succession):
        # a few dozen decisions without a mistake are no proof of certainty
        imagined = np.append(shown, [shown.mean()] * 2) if len(shown) else shown
        outcomes = np.append(right, [True, False]) if len(shown) else right
        self.temperature.fill_(fit_temperature(imagined, outcomes))
        probabilities = (margins[held] / self.temperature.cpu()).sigmoid().double().numpy()
        return {
            "temperature": float(self.temperature),
            "expected_calibration_error": expected_calibration_error(probabilities, right),
        }

    @torch.inference_mode()
    def _all_margins(self, documents: Sequence[Document]) -> tuple[Tensor, Tensor]:
        """Margins and labels of all pairs: (pairs, relations) twice."""
        examples = self.prepare(documents)
        none = torch.zeros(0, len(self.relations))  # the documents may have no pair at all
        margins, labels = [none], [none.bool()]
        with evaluating(self):
            for numbers in batches_by_length(examples, 4096):
                chosen = [examples[number] for number in numbers]
                batch = self.collate(chosen).to(self.temperature.device)
                of_batch = [documents[number] for number in numbers]
                margins.append(self._margins(self._features(batch), batch, of_batch, chosen).cpu())
                labels.append(batch.labels.cpu())
        return torch.cat(margins), torch.cat(labels)

    # --- storage -------------------------------------------------------------------------------

    def save_pretrained(self, directory: str | Path) -> None:
        """Write config.json, model.safetensors and the encoder's configuration."""
        config = {
            "model": "atlop",
            "relations": self.relations,
            "relation_names": self.relation_names,
            "settings": self.settings.model_dump(),
            "provenance": self.provenance,
        }
        storage.save(self, Path(directory), config)

    @classmethod
    def from_pretrained(cls, directory: str | Path) -> Self:
        """Load what `save_pretrained` wrote; also a hub name."""
        path, config = storage.load_config(directory, "atlop")
        with storage.clear_errors(path):
            model = cls(
                storage.load_encoder(path, config),
                config["relations"],
                AtlopSettings(**config["settings"]),
                relation_names=config["relation_names"],
            )
            model.provenance = config["provenance"]
        storage.load_weights(model, path)
        return model.eval()

    def push_to_hub(self, repository: str, **options: Any) -> str:
        """Upload to the Hugging Face hub; returns the address."""
        return storage.push_to_hub(self, repository, **options)


MODEL, SETTINGS = Atlop, AtlopSettings
