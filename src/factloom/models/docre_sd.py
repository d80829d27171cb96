"""DocRE-SD: relational reasoning over entity pairs, trained by self-distillation.

Zhang, Su, Min, Miao, Hu, Fu, Shi, Chen: Exploring Self-Distillation Based Relational Reasoning
Training for Document-Level Relation Extraction, AAAI 2023.

    pair       z_s, z_o as in ATLOP;   M0_(s,o) = tanh(grouped bilinear of z_s and z_o)
    reasoning  M^(l+1) = layer(M^(l)): each pair attends to the pairs that share a bridge entity
    logits     l = W M^(L) + b, decided by the adaptive threshold as in ATLOP

Training by self-distillation, where the model has to infer relations of pairs whose features are
hidden, is the plug-in `self_distillation`; without it this is ATLOP with a reasoning module.

For users, a relation's provenance names the bridges that its pair attended to most, those with
relations on both sides first, each with the pattern of those relations:

    {"model": "docre_sd", "bridges": [{"entity": 2, "pattern": 1, "weight": 0.61,
                                       "premises": [[0, "P19", 2], [2, "P17", 1]]}, ...]}

says that the relation of entities 0 and 1 leans on (0, P19, 2) and (2, P17, 1).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self, cast

import torch
from pydantic import Field, NonNegativeInt, PositiveInt, field_validator
from torch import Tensor, nn

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.layouts.marked_documents import (
    MarkedExample,
    make_batch,
    make_examples,
)
from factloom.models import relation_decoding, storage
from factloom.models.relation_settings import RelationSettings, with_learned_rules
from factloom.models.whole_annotation import require_whole_annotation
from factloom.modules.entity_pairs import EntityPairs
from factloom.modules.grouped_bilinear import GroupedBilinear
from factloom.modules.marked_batch import MarkedBatch
from factloom.modules.pair_reasoning import PairMatrix, both_premises
from factloom.modules.reasoning_layers import ReasoningLayer
from factloom.modules.thresholds import AdaptiveThreshold
from factloom.reasoning_patterns import PATTERNS, premises


@dataclass(frozen=True, slots=True)
class ReasonedScores:
    """What the model says about the pairs of a batch, and how it came to it."""

    logits: Tensor  # (pairs, classes)
    attention: Tensor  # (entities, heads, length), what the evidence is read from
    features: tuple[Tensor, ...]  # M0 to M^(L): (pairs, width) each
    matrix: PairMatrix


@dataclass(frozen=True, slots=True)
class DocreSdOutput:
    """The loss is the mean over the batch's pairs."""

    logits: Tensor  # (pairs, classes)
    loss: Tensor
    scores: ReasonedScores


class DocreSdSettings(RelationSettings):
    """Everything about the model that a user can choose; kept in its config.json."""

    block_size: PositiveInt = Field(8, description="Size of a group of the bilinear pair features.")
    marker: str = Field("*", min_length=1, description="Put before and after every mention.")
    layers: NonNegativeInt = Field(2, description="Reasoning layers.")
    patterns: tuple[Annotated[int, Field(ge=1, le=len(PATTERNS))], ...] = Field(
        PATTERNS, min_length=1, description="Reasoning patterns, an attention head each."
    )
    unit: Literal["feed_forward", "highway"] = Field(
        "feed_forward", description="What follows the attention: the paper's, or its code's."
    )
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(0.1, description="In reasoning layers.")
    explain: NonNegativeInt = Field(
        3, description="Most bridges that the provenance of a relation names."
    )

    @field_validator("patterns")
    @classmethod
    def _each_once(cls, patterns: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(patterns)) < len(patterns):
            raise ValueError("each pattern has one head: name it once")
        return patterns


class DocreSd(nn.Module):
    """Relations between the entities of a document, inferred from one another where need be.

    >>> model = DocreSd(Encoder.load("all-MiniLM-L6-v2"), ["P19", "P27"])  # doctest: +SKIP
    """

    task: ClassVar[str] = "relations"
    settings: DocreSdSettings
    temperature: Tensor  # of the scores; fitted on dev after training

    def __init__(
        self,
        encoder: Encoder,
        relations: Sequence[str],
        settings: DocreSdSettings | None = None,
        *,
        relation_names: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        settings = settings or DocreSdSettings()
        width = settings.width or encoder.width
        self.settings = settings
        self.relations = tuple(relations)
        self.relation_names = dict(relation_names or {})
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.pairs = EntityPairs(encoder.width, width, pair_elements=settings.pair_elements)
        self.bilinear = GroupedBilinear(width, settings.block_size, width)
        self.mask_vector = nn.Parameter(torch.randn(width) * 0.02)  # for hidden pairs
        self.reasoning = nn.ModuleList(
            ReasoningLayer(
                width, settings.patterns, settings.unit, settings.dropout, settings.pair_elements
            )
            for _ in range(settings.layers)
        )
        self.rule = AdaptiveThreshold()
        self.classifier = nn.Linear(width, len(self.relations) + self.rule.extra_classes)
        self.register_buffer("temperature", torch.ones(()))

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: DocreSdSettings,
        *,
        names: Mapping[str, str] | None = None,
    ) -> Self:
        """An untrained model for the relations (and type constraints) that the documents have."""
        require_whole_annotation(documents, "docre_sd")
        relations = relation_decoding.relations_to_learn(documents)
        settings = with_learned_rules(settings, documents)
        return cls(encoder, relations, settings, relation_names=names)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[MarkedExample]:
        """Mark and tokenise documents, once."""
        return make_examples(documents, self.encoder, self.relations, self.settings.marker)

    def collate(self, examples: Sequence[MarkedExample]) -> MarkedBatch:
        return make_batch(examples, self.encoder, len(self.relations)).to("cpu")

    def score(self, batch: MarkedBatch) -> ReasonedScores:
        encoded = self.encoder(batch.windows)
        pairs = self.pairs(
            batch.mention_states(encoded.states), encoded.attention, encoded.states, batch
        )
        features = self.bilinear(pairs.head, pairs.tail).tanh()  # (pairs, width)
        return self.reason(features, pairs.attention, pair_matrix(batch))

    def reason(
        self,
        features: Tensor,
        attention: Tensor,
        matrix: PairMatrix,
        layers: nn.ModuleList | None = None,
    ) -> ReasonedScores:
        """From the features M0 of the pairs to their relations, by its own layers or others."""
        refined = [features]
        for layer in self.reasoning if layers is None else layers:
            refined.append(layer(refined[-1], matrix))
        return ReasonedScores(self.classifier(refined[-1]), attention, tuple(refined), matrix)

    def reason_with_hidden(self, scores: ReasonedScores, hidden: Tensor) -> ReasonedScores:
        """Reason once more, the features of the `hidden` pairs, bool (pairs,), put out of sight."""
        features = torch.where(hidden.unsqueeze(1), self.mask_vector, scores.features[0])
        return self.reason(features, scores.attention, scores.matrix)

    def forward(self, batch: MarkedBatch) -> DocreSdOutput:
        scores = self.score(batch)
        loss = relation_decoding.summed_loss(self, scores, batch) / batch.weight
        # Several processes only exchange gradients of parameters that this pass has used, and the
        # mask vector has its use in what self-distillation adds.
        loss = loss + 0 * self.mask_vector.sum()
        return DocreSdOutput(scores.logits, loss, scores)

    @contextmanager
    def silenced(self, pattern: int) -> Iterator[None]:
        """Inside, the heads of the pattern say nothing: what is each worth to a trained model?"""
        head = self.settings.patterns.index(pattern)
        outputs = [cast(ReasoningLayer, layer).attention.output.weight for layer in self.reasoning]
        trained = [weight.detach().clone() for weight in outputs]
        with torch.no_grad():
            for weight in outputs:
                weight.unflatten(1, (len(self.settings.patterns), -1))[:, head] = 0
        try:
            yield
        finally:
            with torch.no_grad():
                for weight, before in zip(outputs, trained, strict=True):
                    weight.copy_(before)

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with their relations replaced by predicted ones."""
        return relation_decoding.predict(self, documents, batch_tokens)

    fit_scores = relation_decoding.fit_scores

    def provenance_of(self, scores: ReasonedScores, held: Tensor) -> list[dict[str, Any]]:
        """The bridges of each relation, the most attended first."""
        pairs, types = held.nonzero(as_tuple=True)  # (relations,) twice
        statements = self._statements(scores.matrix, pairs, types)
        bridges_of_pairs = self._bridges(scores, pairs, held.any(1))
        return [
            {
                "model": "docre_sd",
                "bridges": [
                    self._bridge(scores.matrix, statements, int(pair), *bridge)
                    for bridge in bridges
                ],
            }
            for pair, bridges in zip(pairs, bridges_of_pairs, strict=True)
        ]

    def _bridges(
        self, scores: ReasonedScores, pairs: Tensor, related: Tensor
    ) -> list[list[tuple[int, int, float]]]:
        """Pattern, bridge entity and attention weight, at most `explain` of each chosen pair.

        The weight is the mean over layers and heads: features of (s, i) and (i, s) tell much the
        same, so that any head may look for a bridge. Bridges with a pattern whose premises are
        both among the `related` pairs, bool (pairs,), come first: the others explain little.
        """
        if not self.settings.layers or not self.settings.explain or not len(pairs):
            return [[] for _ in pairs]
        chosen, row_of = pairs.unique(return_inverse=True)  # a pair may have several relations
        weights = torch.stack(
            [
                cast(ReasoningLayer, layer).attention.weights(features, scores.matrix, chosen)
                for layer, features in zip(self.reasoning, scores.features, strict=False)
            ]
        ).mean(0)[..., 1:]  # (chosen, heads, entities)
        patterns, weight = self.settings.patterns, weights.mean(1)  # (chosen, entities)
        stated = both_premises(patterns, related, scores.matrix, chosen)
        most = min(self.settings.explain, weights.shape[2])
        entities = (weight + stated.any(1)).topk(most).indices  # (chosen, most)
        heads = (weights + stated).argmax(1).gather(1, entities)
        rows = (heads.tolist(), entities.tolist(), weight.gather(1, entities).tolist())
        bridges = [
            [(patterns[head], entity, value) for head, entity, value in attended if value > 0]
            for attended in (zip(*row, strict=True) for row in zip(*rows, strict=True))
        ]
        return [bridges[row] for row in row_of.tolist()]

    def _bridge(
        self,
        matrix: PairMatrix,
        statements: Mapping[tuple[int, int, int], list[str]],
        pair: int,
        pattern: int,
        entity: int,
        weight: float,
    ) -> dict[str, Any]:
        document, head, tail = (
            int(part[pair]) for part in (matrix.document, matrix.head, matrix.tail)
        )
        return {
            "entity": entity,
            "pattern": pattern,
            "weight": round(weight, 4),
            "premises": [
                [start, relation, end]
                for start, end in premises(pattern, head, tail, entity)
                for relation in statements.get((document, start, end), ())
            ],
        }

    def _statements(
        self, matrix: PairMatrix, pairs: Tensor, types: Tensor
    ) -> Mapping[tuple[int, int, int], list[str]]:
        """The relations found, by document, head and tail."""
        statements: defaultdict[tuple[int, int, int], list[str]] = defaultdict(list)
        rows = (matrix.document[pairs], matrix.head[pairs], matrix.tail[pairs], types)
        for document, head, tail, kind in zip(*(row.tolist() for row in rows), strict=True):
            statements[document, head, tail].append(self.relations[kind])
        return statements

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {
            "relations": self.relations,
            "relation_names": self.relation_names,
            "settings": self.settings.model_dump(),
        }

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        settings, names = DocreSdSettings(**config["settings"]), config["relation_names"]
        return cls(encoder, config["relations"], settings, relation_names=names)

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


def pair_matrix(batch: MarkedBatch) -> PairMatrix:
    """Where the batch's pairs stand in the matrices of their documents."""
    counts = torch.tensor(batch.entity_counts, device=batch.pair_head.device)  # (documents,)
    document = batch.entity_document[batch.pair_head]  # (pairs,)
    first = (counts.cumsum(0) - counts)[document]  # the document's first entity in the batch
    return PairMatrix(
        document=document,
        head=batch.pair_head - first,
        tail=batch.pair_tail - first,
        documents=len(counts),
        entities=max(batch.entity_counts),
    )


MODEL, SETTINGS = DocreSd, DocreSdSettings
