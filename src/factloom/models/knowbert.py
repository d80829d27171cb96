"""KnowBERT's linker: which entity of a knowledge base each entity of a document is.

Peters et al.: Knowledge Enhanced Contextual Word Representations, EMNLP 2019, arXiv 1909.04164.
The layer that scores candidates: modules/knowledge_attention.py.

    states       of layer `after` of the encoder, over the whole document
    candidates   of each mention those of all names of its entity, with their priors and signs
                 (knowledge/beliefs.py, offers.py); and NULL
    vectors      of entities: an untrained encoder's of their names, types and descriptions
    score        psi of the knowledge attention; P(e) = softmax over the candidates and NULL
    loss         over all mentions of entities; NULL is right where no candidate is
    decision     of an entity: the mean of P over its mentions; a link from `least_score` on

Before anything is learned, decisions are those of linking by name and prior.

The base is opened anew for every prediction: what has been added to a store is a candidate then.

With `masked` the paper's second stage follows: after `linker_batches` batches that teach the linker
alone, states go on enhanced through the layers above, and some words are hidden and found again:

    loss         linking + the mean over hidden words of -log P(word), weighed as one term a mention
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from factloom.document import Document
from factloom.encoders.between_layers import changed_after, layer_count
from factloom.encoders.encoder import Encoder
from factloom.encoders.windows import TokenIds
from factloom.graph.knowledge_base import KnowledgeBase
from factloom.knowledge.beliefs import beliefs_of
from factloom.knowledge.entity_vectors import KnowledgeSource
from factloom.knowledge.linking import with_link
from factloom.knowledge.offers import SIGNS, offer_of
from factloom.layouts import linked_documents
from factloom.layouts.batching import batches_by_length
from factloom.layouts.linked_documents import LinkBatch, LinkExample, entity_means
from factloom.models import PlainOutput, storage
from factloom.modules.devices import moved
from factloom.modules.evaluating import evaluating
from factloom.modules.knowledge_attention import (
    NULL,
    KnowledgeAttention,
    Offer,
    SpanCandidates,
    linking_loss,
    margin_loss,
)
from factloom.modules.pooling import segment_mean

_SHOWN = 5  # candidates that are kept with the entity


class KnowbertSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    knowledge: str = Field(
        min_length=1, description="What is known: a graph store, tables, or a file of entities."
    )
    describer: str = Field(
        "all-MiniLM-L6-v2", description="The encoder that makes vectors of descriptions."
    )
    after: int = Field(
        0, ge=0, description="The layer of the encoder whose states are linked; 0 for the last."
    )
    loss: Literal["likelihood", "margin"] = Field(
        "likelihood", description="Softmax over candidates and NULL, or a margin of 0.2 to it."
    )
    candidates: PositiveInt = Field(30, description="At most so many of a name.")
    hidden: PositiveInt = Field(100, description="Size of the hidden layer of the scorer.")
    heads: PositiveInt = Field(4, description="Attention heads between spans, and to them.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of the attention between spans.")
    least_score: float = Field(0.3, ge=0, le=1, description="Least probability of a link.")
    masked: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Part of the tokens that are hidden and found again with what is known; 0 "
        "trains the linker alone.",
    )
    linker_batches: int = Field(
        0, ge=0, description="So many batches teach the linker alone before tokens are hidden."
    )


@dataclass(frozen=True, slots=True)
class KnowbertExample:
    """A document with the candidates of its entities."""

    mentions: LinkExample
    candidates: tuple[tuple[str, ...], ...]  # of each entity, their identifiers
    offers: tuple[Offer, ...]  # of each entity, the same as rows of the source's vectors
    names: Mapping[str, str]  # of candidates

    @property
    def mention_offers(self) -> list[Offer]:
        return [self.offers[entity] for entity in self.mentions.entity.tolist()]

    @property
    def id(self) -> str:
        return self.mentions.id

    @property
    def tokens(self) -> int:
        return self.mentions.tokens

    @property
    def terms(self) -> int:
        return self.mentions.terms


@dataclass(frozen=True, slots=True)
class KnowbertBatch:
    mentions: LinkBatch
    known: SpanCandidates  # of the uses
    tokens: Tensor  # (windows, window length) what stands there, hidden or not

    @property
    def weight(self) -> int:
        return self.mentions.weight

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


class Knowbert(nn.Module):
    """Documents with entities in, the same with identifiers out."""

    task: ClassVar[str] = "linking"
    settings: KnowbertSettings

    def __init__(
        self, encoder: Encoder, settings: KnowbertSettings, entity_width: int | None = None
    ) -> None:
        super().__init__()
        self.settings = settings
        self.source = KnowledgeSource(settings.knowledge, settings.describer)
        self.provenance: dict[str, Any] = {}

        self.batches: Tensor
        self.encoder = encoder
        self.knowledge = KnowledgeAttention(
            encoder.width,
            self.source.width if entity_width is None else entity_width,
            signs=tuple(SIGNS.values()),
            hidden=settings.hidden,
            heads=settings.heads,
            dropout=settings.dropout,
        )
        if settings.masked:
            self.top = nn.Sequential(
                nn.Linear(encoder.width, encoder.embedding_width),
                nn.GELU(),
                nn.LayerNorm(encoder.embedding_width),
            )
            self.register_buffer("batches", torch.zeros((), dtype=torch.long))  # trained on

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],  # noqa: ARG003 - what is known stands in the base
        settings: KnowbertSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        return cls(encoder, settings)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[KnowbertExample]:
        """Find the tokens and candidates of mentions, once."""
        all_documents = list(documents)
        tokenised = self.encoder.tokenize([document.text for document in all_documents])
        with self.source.opened() as base:
            return [
                self._example(document, tokens, base)
                for document, tokens in zip(all_documents, tokenised, strict=True)
            ]

    def _example(self, document: Document, tokens: Any, base: KnowledgeBase) -> KnowbertExample:
        most, count = self.settings.candidates, len(document.entities)
        believed = [beliefs_of(base, document, index, most=most) for index in range(count)]
        candidates = tuple(tuple(each.id for each in of.prospects) for of in believed)
        gold = [
            ids.index(entity.id) if entity.id in ids else NULL
            for entity, ids in zip(document.entities, candidates, strict=True)
            for _ in entity.mentions
        ]
        example = linked_documents.make_example(document, tokens, np.array(gold, np.int64))
        offers = tuple(offer_of(self.source, base, of) for of in believed)
        names = {id: base.entity(id).name for ids in candidates for id in ids}
        return KnowbertExample(example, candidates, offers, names)

    def collate(self, examples: Sequence[KnowbertExample]) -> KnowbertBatch:
        hiding = self.training and self._in_second_stage()
        share, mask = self.settings.masked if hiding else 0.0, self.encoder.mask_token
        tokens = [example.mentions.token_ids for example in examples]
        windows = self.encoder.batch([with_masks(each, share, mask) for each in tokens])
        before = len(self.encoder.special.before)
        batch = linked_documents.make_batch([e.mentions for e in examples], windows, before)
        offers = [offer for example in examples for offer in example.mention_offers]
        known = SpanCandidates.of(
            batch.spans,
            self.source.entities.vectors,
            [offers[mention] for mention in batch.mention.tolist()],
            len(SIGNS),
        )
        return KnowbertBatch(batch, known, self.encoder.batch(tokens).token_ids)

    def _in_second_stage(self) -> bool:
        started = self.settings.masked > 0
        return started and int(self.batches) >= self.settings.linker_batches

    def score(self, batch: KnowbertBatch) -> Tensor:
        """(uses, candidates)"""
        scores, _ = self._read(batch, enhance=False)
        return scores

    def _read(self, batch: KnowbertBatch, *, enhance: bool) -> tuple[Tensor, Tensor]:
        """(uses, candidates), and the states at the top (windows, window length, width)."""
        found: list[Tensor] = []

        def linked(states: Tensor) -> Tensor:
            if not enhance:
                found.append(self.knowledge.link(states, batch.known))
                return states
            enhanced, scores = self.knowledge(states, batch.known)
            found.append(scores)
            return cast(Tensor, enhanced)

        number = self.settings.after or layer_count(self.encoder.backbone)
        with changed_after(self.encoder.backbone, number, linked):
            top = self.encoder.window_states(batch.mentions.windows)
        return found[0], top

    def forward(self, batch: KnowbertBatch) -> PlainOutput:
        enhance = self._in_second_stage()
        scores, top = self._read(batch, enhance=enhance)
        gold = batch.mentions.gold[batch.mentions.mention]  # (uses,)
        of_uses = linking_loss if self.settings.loss == "likelihood" else margin_loss
        losses = batch.mentions.of_mentions(of_uses(scores, gold, self.knowledge.threshold))
        loss = losses.sum() + (self._masked_loss(batch, top) if enhance else 0.0)
        if self.training and self.settings.masked:
            self.batches += 1
        null = scores.new_full((len(scores), 1), self.knowledge.threshold)
        logits = torch.cat([null, scores], 1).clamp(min=-1e4)  # padding has no -inf for plug-ins
        return PlainOutput(logits, loss / batch.weight)

    def _masked_loss(self, batch: KnowbertBatch, top: Tensor) -> Tensor:
        """The mean over the hidden tokens of a document, times its mentions; the sum."""
        windows = batch.mentions.windows
        hidden = windows.token_ids != batch.tokens  # (windows, window length)
        table = cast(Any, self.encoder.backbone).get_input_embeddings().weight
        logits = self.top(top[hidden]) @ table.T  # (hidden tokens, vocabulary)
        losses = F.cross_entropy(logits, batch.tokens[hidden], reduction="none")
        document = windows.document[hidden.nonzero()[:, 0]]  # (hidden tokens,)
        means = segment_mean(losses, document, len(batch.mentions.counts))  # (documents,)
        return (means * torch.tensor(batch.mentions.counts, device=means.device)).sum()

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with links, in place of those that they had."""
        all_documents = [document.without_links() for document in documents]
        examples = self.prepare(all_documents)
        scores = self._scores(examples, batch_tokens)
        return [
            self.linked(document, example, of_mentions)
            for document, example, of_mentions in zip(all_documents, examples, scores, strict=True)
        ]

    @torch.inference_mode()
    def _scores(self, examples: Sequence[KnowbertExample], batch_tokens: int) -> list[Tensor]:
        """(mentions, candidates) the probabilities, of each document"""
        found = [torch.zeros(0, 0)] * len(examples)
        device = self.knowledge.null.device
        with evaluating(self):
            for numbers in batches_by_length(examples, batch_tokens):
                batch = self.collate([examples[number] for number in numbers])
                scores = self.score(batch.to(device)).cpu()
                null = scores.new_full((len(scores), 1), self.knowledge.threshold)
                shares = torch.cat([null, scores], 1).softmax(1)[:, 1:]
                parts = batch.mentions.of_mentions(shares).split(list(batch.mentions.counts))
                for number, part in zip(numbers, parts, strict=True):
                    found[number] = part
        return found

    def linked(self, document: Document, example: KnowbertExample, shares: Tensor) -> Document:
        """The document with its links; `shares` (mentions, candidates) are the probabilities."""
        entities = list(document.entities)
        if not len(shares):
            return document
        (means,) = entity_means(shares, [example.mentions])  # (entities, candidates)
        for number, (ids, of_entity) in enumerate(
            zip(example.candidates, means.tolist(), strict=False)
        ):
            ranked = sorted(zip(ids, of_entity, strict=False), key=lambda pair: -pair[1])
            if ranked:
                kept, least = dict(ranked[:_SHOWN]), self.settings.least_score
                entities[number] = with_link(entities[number], kept, example.names, least)
        return document.replace(entities=tuple(entities))

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:  # noqa: ARG002
        """The softmax has no threshold to be fitted: NULL is one of its terms."""
        return {}

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        width = self.knowledge.down.out_features
        return {"entity_width": width, "settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        return cls(encoder, KnowbertSettings(**config["settings"]), config["entity_width"])

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


def with_masks(tokens: TokenIds, share: float, mask_token: int) -> TokenIds:
    """(tokens,) some of them hidden, by chance"""
    if not share:
        return tokens
    hidden = (torch.rand(len(tokens)) < share).numpy()
    return np.where(hidden, mask_token, tokens)


MODEL, SETTINGS = Knowbert, KnowbertSettings
