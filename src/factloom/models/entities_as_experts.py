"""Entities as Experts: an encoder with a memory of entities after a third of its layers.

Févry et al.: Entities as Experts: Sparse Memory Access with Entity Supervision, EMNLP 2020, arXiv
2004.07202. The memory: modules/entity_memory.py.

    below      X = the first `after` layers
    memory     X' and the queries h_m of the mentions' first and last tokens, over all entities e of
               the base; e is an untrained encoder's vector of names, type and description
    above      the other layers, on X'
    detection  B, I or O of every token, from X
    linking    P(e | m) = softmax over all entities of h_m . e
    masked     the tokens of a fifth of the mentions are hidden, whole, and found again at the top
    loss       linking + detection, weighed as one term a mention + masked, each over the mentions
    decision   of an entity: the mean of P over its mentions

No entity has a weight of its own: one that is added to the base is in the memory of the next
prediction, without training.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast
from zlib import crc32

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from factloom.document import Document
from factloom.encoders.between_layers import changed_after, layer_count
from factloom.encoders.encoder import Encoder
from factloom.knowledge.entity_vectors import KnowledgeSource
from factloom.layouts import linked_documents
from factloom.layouts.linked_documents import LinkBatch, LinkExample
from factloom.models import PlainOutput, storage
from factloom.models.memory_links import UNKNOWN, ExpertExample, expert_examples, linked
from factloom.modules.devices import moved
from factloom.modules.entity_memory import EntityMemory

OUTSIDE, BEGINS, INSIDE = 0, 1, 2


class EntitiesAsExpertsSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    knowledge: str = Field(
        min_length=1, description="What is known: a graph store, tables, or a file of entities."
    )
    describer: str = Field(
        "all-MiniLM-L6-v2", description="The encoder that makes vectors of descriptions."
    )
    after: int = Field(
        0, ge=0, description="The layer behind which the memory stands; 0 for a third of them."
    )
    most: PositiveInt = Field(
        100, description="So many entities are read for a mention in predictions; all in training."
    )
    masked: float = Field(0.2, ge=0, lt=1, description="Part of the mentions that are hidden.")
    least_score: float = Field(0.3, ge=0, le=1, description="Least probability of a link.")


@dataclass(frozen=True, slots=True)
class ExpertBatch:
    mentions: LinkBatch
    table: Tensor  # (entities, entity width)
    hidden: Tensor  # bool (mentions,) which are masked
    tokens: Tensor  # (windows, window length) what stands there, hidden or not

    @property
    def weight(self) -> int:
        return self.mentions.weight

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


def scaled(vectors: Any) -> Tensor:
    """Of length width^(1/4), so that dot products with states begin neither sharp nor flat."""
    return torch.from_numpy(np.asarray(vectors * vectors.shape[1] ** 0.25, np.float32))


def hidden_mentions(example: LinkExample, share: float, training: bool) -> Any:
    """bool (mentions,) drawn anew in training, and always the same of a document otherwise."""
    seed = None if training else crc32(example.id.encode("utf-8", "surrogatepass"))
    if training:
        return (torch.rand(example.terms) < share).numpy()
    return np.random.default_rng(seed).random(example.terms) < share


def with_hidden(example: LinkExample, hidden: Any, mask_token: int) -> Any:
    """(tokens,) the tokens, those of hidden mentions as masks"""
    tokens = example.token_ids.copy()
    for first, last in zip(example.first[hidden], example.last[hidden], strict=True):
        tokens[first : last + 1] = mask_token
    return tokens


def detection_tags(batch: LinkBatch) -> Tensor:
    """(windows, window length) B, I or O; longer mentions give way to those within them"""
    tags = torch.zeros_like(batch.windows.token_ids)
    spans = batch.spans
    position = torch.arange(tags.shape[1], device=tags.device)
    inside = (position > spans.first[:, None]) & (position <= spans.last[:, None])
    use, place = inside.nonzero(as_tuple=True)
    tags[spans.text[use], place] = INSIDE
    tags[spans.text, spans.first] = BEGINS
    return tags


class EntitiesAsExperts(nn.Module):
    """Documents with entities in, the same with identifiers out."""

    task: ClassVar[str] = "linking"
    settings: EntitiesAsExpertsSettings

    def __init__(
        self,
        encoder: Encoder,
        settings: EntitiesAsExpertsSettings,
        entity_width: int | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.source = KnowledgeSource(settings.knowledge, settings.describer)
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.entity_width = self.source.width if entity_width is None else entity_width
        self.memory = EntityMemory(encoder.width, self.entity_width)
        self.detection = nn.Linear(encoder.width, 3)
        self.top = nn.Sequential(
            nn.Linear(encoder.width, encoder.embedding_width),
            nn.GELU(),
            nn.LayerNorm(encoder.embedding_width),
        )

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],  # noqa: ARG003 - what is known stands in the base
        settings: EntitiesAsExpertsSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        return cls(encoder, settings)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[ExpertExample]:
        """Find the tokens of mentions and the rows of their entities in the memory as it is now."""
        return expert_examples(self.encoder, self.source, documents, facts=False)

    def collate(self, examples: Sequence[ExpertExample]) -> ExpertBatch:
        return self._batch(examples, self.settings.masked)

    def _batch(self, examples: Sequence[ExpertExample], share: float) -> ExpertBatch:
        mentions = [example.mentions for example in examples]
        hidden = [hidden_mentions(each, share, self.training) for each in mentions]
        mask = self.encoder.mask_token
        shown = [with_hidden(*pair, mask) for pair in zip(mentions, hidden, strict=True)]
        windows = self.encoder.batch(shown)
        before = len(self.encoder.special.before)
        return ExpertBatch(
            linked_documents.make_batch(mentions, windows, before),
            scaled(examples[0].memory.vectors),
            torch.from_numpy(np.concatenate(hidden)),
            self.encoder.batch([each.token_ids for each in mentions]).token_ids,
        )

    def forward(self, batch: ExpertBatch) -> PlainOutput:
        below, queries, top = self._read(batch, None)
        logits = (queries @ batch.table.T).float()  # (uses, entities)
        linking = self._linking_loss(batch.mentions, logits)
        detection = self._detection_loss(batch.mentions, below)
        loss = linking + detection + self._masked_loss(batch, top)
        return PlainOutput(logits, loss / batch.weight)

    def _read(self, batch: ExpertBatch, most: int | None) -> tuple[Tensor, Tensor, Tensor]:
        """States below the memory, queries (uses, entity width), and states at the top."""
        found: list[Tensor] = []

        def remember(states: Tensor) -> Tensor:
            changed, queries = self.memory(states, batch.mentions.spans, batch.table, most)
            found.extend((states, queries))
            return cast(Tensor, changed)

        number = self.settings.after or max(1, layer_count(self.encoder.backbone) // 3)
        windows = batch.mentions.windows
        with changed_after(self.encoder.backbone, number, remember):
            top = self.encoder.window_states(windows)
        below, queries = found
        return below, queries, top

    @staticmethod
    def _linking_loss(mentions: LinkBatch, logits: Tensor) -> Tensor:
        """The sum over mentions of entities that the base knows."""
        gold = mentions.gold[mentions.mention]  # (uses,)
        known = gold != UNKNOWN
        losses = logits.new_zeros(len(gold))
        losses[known] = F.cross_entropy(logits[known], gold[known], reduction="none")
        return mentions.of_mentions(losses).sum()

    def _detection_loss(self, mentions: LinkBatch, states: Tensor) -> Tensor:
        """The mean over the tokens of a document, times its mentions; the sum over documents."""
        windows = mentions.windows
        logits = self.detection(states)  # (windows, window length, 3)
        losses = F.cross_entropy(logits.transpose(1, 2), detection_tags(mentions), reduction="none")
        mask = windows.mask.to(losses.dtype)
        counts = losses.new_zeros(len(mentions.counts)).index_add(
            0, windows.document, mask.sum(1)
        )  # (documents,) tokens
        weight = torch.tensor(mentions.counts, device=losses.device) / counts.clamp(min=1)
        return ((losses * mask).sum(1) * weight[windows.document]).sum()

    def _masked_loss(self, batch: ExpertBatch, top: Tensor) -> Tensor:
        """The mean over the tokens of a hidden mention; the sum over mentions."""
        spans, hidden = batch.mentions.spans, batch.hidden[batch.mentions.mention]  # (uses,)
        states, counts = spans.tokens(top)  # (uses, longest, width)
        tokens, _ = spans.tokens(batch.tokens.unsqueeze(-1))
        counts = counts & hidden[:, None]
        table = cast(Any, self.encoder.backbone).get_input_embeddings().weight
        logits = self.top(states[counts]) @ table.T  # (hidden tokens, vocabulary)
        losses = F.cross_entropy(logits, tokens[counts].squeeze(-1), reduction="none")
        of_uses = losses.new_zeros(len(spans)).index_add(
            0, counts.nonzero()[:, 0], losses
        ) / counts.sum(1).clamp(min=1)
        return batch.mentions.of_mentions(of_uses).sum()

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with links, in place of those that they had."""
        bare = [document.without_links() for document in documents]
        least = self.settings.least_score
        return linked(self, bare, self.prepare(bare), self._shares, least, batch_tokens)

    def _shares(self, examples: Sequence[ExpertExample]) -> Tensor:
        """(mentions, entities)"""
        batch = self._batch(examples, 0.0).to(self.detection.weight.device)
        return batch.mentions.of_mentions(self._probabilities(batch))

    def _probabilities(self, batch: ExpertBatch) -> Tensor:
        """(uses, entities)"""
        _, queries, _ = self._read(batch, self.settings.most)
        return (queries @ batch.table.T).softmax(-1)

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:  # noqa: ARG002
        """The softmax over all entities has no threshold to be fitted."""
        return {}

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"entity_width": self.entity_width, "settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        settings = EntitiesAsExpertsSettings(**config["settings"])
        return cls(encoder, settings, config["entity_width"])

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


MODEL, SETTINGS = EntitiesAsExperts, EntitiesAsExpertsSettings
