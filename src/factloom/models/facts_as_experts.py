"""Facts as Experts: what a hidden mention stands for, by the text and by facts that can be edited.

Verga, Sun, Baldini Soares, Cohen: Facts as Experts, NAACL 2021, arXiv 2007.00849. The memories:
modules/entity_memory.py, after a third of the layers, and modules/fact_memory.py, at the top.

    linking   P(e | m) = softmax over all entities of h_m . e, for every mention
    context   P(e | m) = softmax of c_m . e, for hidden mentions: what the text alone says
    fact      P(j | m) = softmax over all groups of facts and null; right are those whose subject
              stands in the document and whose objects hold the answer, else null
    answer    P(e | m) = softmax of q_m . e, q the mixture of context and facts
    loss      the four, each a mean over its mentions' windows, summed and over all mentions

A mention that is written as the encoder's mask, "Ada was born in [MASK].", is answered; others are
linked. Entities and relations are vectors of an untrained encoder, so E and R are frozen, and the
base is opened anew for every prediction: a fact that is added, changed, rejected or deleted is so
at the next question.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from factloom.document import Document
from factloom.encoders.between_layers import changed_after, layer_count
from factloom.encoders.encoder import Encoder
from factloom.knowledge.entity_vectors import KnowledgeMemory, KnowledgeSource
from factloom.layouts import linked_documents
from factloom.layouts.linked_documents import LinkBatch, LinkExample
from factloom.models import PlainOutput, storage
from factloom.models.entities_as_experts import (
    hidden_mentions,
    scaled,
    with_hidden,
)
from factloom.models.memory_links import UNKNOWN, ExpertExample, expert_examples, linked
from factloom.modules.devices import moved
from factloom.modules.entity_memory import EntityMemory
from factloom.modules.fact_memory import FactGroups, FactMemory


class FactsAsExpertsSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    knowledge: str = Field(
        min_length=1, description="What is known: a graph store, tables, or a file of facts."
    )
    describer: str = Field(
        "all-MiniLM-L6-v2", description="The encoder that makes vectors of descriptions."
    )
    after: int = Field(
        0, ge=0, description="The layer behind which entities are read; 0 for a third of them."
    )
    most: PositiveInt = Field(
        100, description="So many entities are read for a mention in predictions; all in training."
    )
    facts: PositiveInt = Field(20, description="So many groups of facts are read for a mention.")
    masked: float = Field(0.2, ge=0, lt=1, description="Part of the mentions that are hidden.")
    least_score: float = Field(0.3, ge=0, le=1, description="Least probability of a link.")


@dataclass(frozen=True, slots=True)
class FactBatch:
    mentions: LinkBatch
    entities: Tensor  # (entities, entity width)
    relations: Tensor  # (relations, entity width)
    facts: FactGroups
    asked: Tensor  # bool (mentions,) which are hidden
    right: Tensor  # bool (mentions, 1 + groups) facts that give the gold; null, where none does

    @property
    def weight(self) -> int:
        return self.mentions.weight

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


class FactsAsExperts(nn.Module):
    """Documents with entities in, the same with identifiers out, of hidden mentions, too."""

    task: ClassVar[str] = "linking"
    settings: FactsAsExpertsSettings

    def __init__(
        self, encoder: Encoder, settings: FactsAsExpertsSettings, entity_width: int | None = None
    ) -> None:
        super().__init__()
        self.settings = settings
        self.source = KnowledgeSource(settings.knowledge, settings.describer)
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.entity_width = self.source.width if entity_width is None else entity_width
        self.memory = EntityMemory(encoder.width, self.entity_width)
        self.fact_memory = FactMemory(encoder.width, self.entity_width)

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],  # noqa: ARG003 - what is known stands in the base
        settings: FactsAsExpertsSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        return cls(encoder, settings)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[ExpertExample]:
        """Find the tokens of mentions and the rows of their entities in the memory as it is now."""
        return expert_examples(self.encoder, self.source, documents, facts=True)

    def collate(self, examples: Sequence[ExpertExample]) -> FactBatch:
        return self._batch(examples, self.settings.masked)

    def _batch(self, examples: Sequence[ExpertExample], share: float) -> FactBatch:
        mentions, memory = [example.mentions for example in examples], examples[0].memory
        mask = self.encoder.mask_token
        hidden = [hidden_mentions(each, share, self.training) for each in mentions]
        shown = [with_hidden(*pair, mask) for pair in zip(mentions, hidden, strict=True)]
        asked = [
            [bool((tokens[first : last + 1] == mask).all()) for first, last in _ends(each)]
            for tokens, each in zip(shown, mentions, strict=True)
        ]
        before = len(self.encoder.special.before)
        return FactBatch(
            linked_documents.make_batch(mentions, self.encoder.batch(shown), before),
            scaled(memory.vectors),
            scaled(memory.relation_vectors),
            fact_groups(memory),
            torch.tensor([each for of in asked for each in of], dtype=torch.bool),
            torch.cat([right_facts(each, memory) for each in mentions]),
        )

    def forward(self, batch: FactBatch) -> PlainOutput:
        queries, top = self._read(batch, None)
        mentions, table = batch.mentions, batch.entities
        gold = mentions.gold[mentions.mention]  # (uses,)
        linking = queries @ table.T  # (uses, entities)
        losses = _cross_entropy(linking, gold)
        asked = (batch.asked & (mentions.gold != UNKNOWN))[mentions.mention]  # (uses,)
        ends = mentions.spans.ends(top)[asked]  # (asked, 2 width)
        recalled = self._recall(batch, ends)
        of_asked = _cross_entropy(recalled.context @ table.T, gold[asked])
        of_asked = of_asked + _cross_entropy(recalled.answer @ table.T, gold[asked])
        of_asked = of_asked + self._fact_loss(batch, ends, batch.right[mentions.mention][asked])
        losses = losses.index_add(0, asked.nonzero()[:, 0], of_asked)
        return PlainOutput(linking, mentions.of_mentions(losses).sum() / batch.weight)

    def _read(self, batch: FactBatch, most: int | None) -> tuple[Tensor, Tensor]:
        """Queries (uses, entity width), and the states at the top, window by window."""
        found: list[Tensor] = []

        def remember(states: Tensor) -> Tensor:
            changed, queries = self.memory(states, batch.mentions.spans, batch.entities, most)
            found.append(queries)
            return cast(Tensor, changed)

        number = self.settings.after or max(1, layer_count(self.encoder.backbone) // 3)
        with changed_after(self.encoder.backbone, number, remember):
            top = self.encoder.window_states(batch.mentions.windows)
        return found[0], top

    def _recall(self, batch: FactBatch, ends: Tensor) -> Any:
        most = self.settings.facts
        return self.fact_memory(ends, batch.facts, batch.entities, batch.relations, most)

    def _fact_loss(self, batch: FactBatch, ends: Tensor, right: Tensor) -> Tensor:
        """(asked,) -log of the probability of all right groups, or of null"""
        keys = self.fact_memory.keys(batch.facts, batch.entities, batch.relations)
        keys = torch.cat([self.fact_memory.null_key[None], keys])  # (1 + groups, entity width)
        scores: Tensor = self.fact_memory.query(ends) @ keys.T  # (asked, 1 + groups)
        likely = scores.masked_fill(~right, -torch.inf).logsumexp(1)
        return scores.logsumexp(1) - likely

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with links, in place of those that they had."""
        bare = [document.without_links() for document in documents]
        least = self.settings.least_score
        return linked(self, bare, self.prepare(bare), self._shares, least, batch_tokens)

    def _shares(self, examples: Sequence[ExpertExample]) -> Tensor:
        """(mentions, entities)"""
        batch = self._batch(examples, 0.0).to(self.fact_memory.null_key.device)
        return batch.mentions.of_mentions(self._probabilities(batch))

    def _probabilities(self, batch: FactBatch) -> Tensor:
        """(uses, entities): of hidden mentions by text and facts, of others by the entity memory"""
        queries, top = self._read(batch, self.settings.most)
        recalled = self._recall(batch, batch.mentions.spans.ends(top))
        asked = batch.asked[batch.mentions.mention][:, None]  # (uses, 1)
        vectors = torch.where(asked, recalled.answer, queries)
        return (vectors @ batch.entities.T).softmax(-1)

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:  # noqa: ARG002
        """The softmax over all entities has no threshold to be fitted."""
        return {}

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"entity_width": self.entity_width, "settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        settings = FactsAsExpertsSettings(**config["settings"])
        return cls(encoder, settings, config["entity_width"])

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


@lru_cache(maxsize=1)  # the same memory, batch after batch
def fact_groups(memory: KnowledgeMemory) -> FactGroups:
    """The facts of a memory as tensors."""
    most = max((len(objects) for objects in memory.objects), default=1)
    objects = np.zeros((len(memory.objects), most), np.int64)
    mask = np.zeros((len(memory.objects), most), np.bool_)
    for row, told in enumerate(memory.objects):
        objects[row, : len(told)], mask[row, : len(told)] = told, True
    arrays = (memory.subject, memory.relation, objects, mask)
    return FactGroups(*map(torch.from_numpy, arrays))


def right_facts(example: LinkExample, memory: KnowledgeMemory) -> Tensor:
    """bool (mentions, 1 + groups), null first: from other entities of the document to this one"""
    subjects = set(example.gold.tolist()) - {UNKNOWN}
    by_object: defaultdict[int, list[int]] = defaultdict(list)
    for subject in subjects:
        first, end = np.searchsorted(memory.subject, [subject, subject + 1]).tolist()
        for group in range(first, end):
            for each in memory.objects[group]:
                if each != subject:
                    by_object[each].append(group)
    right = torch.zeros(example.terms, 1 + len(memory.objects), dtype=torch.bool)
    for mention, gold in enumerate(example.gold.tolist()):
        right[mention, [1 + group for group in by_object.get(gold, ())] or [0]] = True
    return right


def _ends(example: LinkExample) -> Iterable[tuple[int, int]]:
    return zip(example.first.tolist(), example.last.tolist(), strict=True)


def _cross_entropy(logits: Tensor, gold: Tensor) -> Tensor:
    """(rows,) zero where the gold is unknown"""
    known = gold != UNKNOWN
    losses = logits.new_zeros(len(gold))
    where = known.nonzero()[:, 0]
    return losses.index_add(0, where, F.cross_entropy(logits[known], gold[known], reduction="none"))


MODEL, SETTINGS = FactsAsExperts, FactsAsExpertsSettings
