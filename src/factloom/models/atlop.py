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
    evidence  the sentences that hold more than `evidence_threshold` of q_(s,o); each end is named
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.layouts.marked_documents import (
    MarkedExample,
    make_batch,
    make_examples,
)
from factloom.models import PlainOutput, relation_decoding, storage
from factloom.models.atlop_settings import AtlopSettings
from factloom.models.relation_decoding import PairScores
from factloom.models.relation_settings import with_learned_rules
from factloom.models.whole_annotation import require_whole_annotation
from factloom.modules.entity_pairs import EntityPairs
from factloom.modules.grouped_bilinear import GroupedBilinear
from factloom.modules.marked_batch import MarkedBatch
from factloom.modules.thresholds import AdaptiveThreshold, GlobalThreshold

THRESHOLDS = {"adaptive": AdaptiveThreshold, "global": GlobalThreshold}


class Atlop(nn.Module):
    """Relations between the entities of a document, each with a score and its evidence.

    >>> model = Atlop(Encoder.load("all-MiniLM-L6-v2"), ["P19", "P27"])  # doctest: +SKIP
    """

    task: ClassVar[str] = "relations"
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
        self.pairs = EntityPairs(
            encoder.width,
            width,
            pooling=settings.pooling,
            context=settings.context,
            pair_elements=settings.pair_elements,
        )
        self.rule = THRESHOLDS[settings.threshold]()
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
        names: Mapping[str, str] | None = None,
    ) -> Self:
        """An untrained model for the relations (and type constraints) that the documents have."""
        require_whole_annotation(documents, "atlop")
        relations = relation_decoding.relations_to_learn(documents)
        settings = with_learned_rules(settings, documents)
        return cls(encoder, relations, settings, relation_names=names)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[MarkedExample]:
        """Mark and tokenise documents, once."""
        return make_examples(documents, self.encoder, self.relations, self.settings.marker)

    def collate(self, examples: Sequence[MarkedExample]) -> MarkedBatch:
        return make_batch(examples, self.encoder, len(self.relations)).to("cpu")

    def score(self, batch: MarkedBatch) -> PairScores:
        encoded = self.encoder(batch.windows)
        pairs = self.pairs(
            batch.mention_states(encoded.states), encoded.attention, encoded.states, batch
        )
        asked = batch.asked, self.rule.extra_classes
        return PairScores(self.classifier.asked(pairs.head, pairs.tail, *asked), pairs.attention)

    def forward(self, batch: MarkedBatch) -> PlainOutput:
        scores = self.score(batch)
        loss = relation_decoding.summed_loss(self, scores, batch) / batch.weight
        return PlainOutput(scores.logits, loss)

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with their relations replaced by predicted ones."""
        return relation_decoding.predict(self, documents, batch_tokens)

    fit_scores = relation_decoding.fit_scores

    def provenance_of(self, _: PairScores, held: Tensor) -> list[dict[str, Any]]:
        return [{"model": "atlop"} for _ in range(int(held.sum()))]

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {
            "relations": self.relations,
            "relation_names": self.relation_names,
            "settings": self.settings.model_dump(),
        }

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        settings, names = AtlopSettings(**config["settings"]), config["relation_names"]
        return cls(encoder, config["relations"], settings, relation_names=names)

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


MODEL, SETTINGS = Atlop, AtlopSettings
