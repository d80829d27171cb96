"""The mentions, entities and pairs of several documents as index tensors.

They stand in one row each, with index tensors between them, so that a model needs no loop and no
padding for them. How documents become such a batch: layouts/marked_documents.py.
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from factloom.modules.devices import moved
from factloom.modules.windows import WindowBatch


@dataclass(frozen=True, slots=True)
class MarkedBatch:
    """Several documents as tensors; `entity` indices count through the whole batch."""

    windows: WindowBatch
    mention_document: Tensor  # (mentions,)
    mention_slot: Tensor  # (mentions,)
    mention_entity: Tensor  # (mentions,)
    entity_counts: tuple[int, ...]  # entities of each document
    first: Tensor  # (unordered pairs,) entity, rising
    second: Tensor  # (unordered pairs,) entity
    unordered_counts: tuple[int, ...]  # unordered pairs of each document
    pair_unordered: Tensor  # (pairs,)
    pair_head: Tensor  # (pairs,) entity
    pair_tail: Tensor  # (pairs,) entity
    slot_sentence: Tensor  # (documents, length) sentence, -1 outside of all
    labels: Tensor  # bool (pairs, relations)
    unknown: Tensor  # bool (pairs, relations) of which nothing is known; never where labels are
    evidence_pair: Tensor  # (pairs with gold evidence,)
    evidence_target: Tensor  # (pairs with gold evidence, length) uniform over evidence tokens

    @property
    def entities(self) -> int:
        return sum(self.entity_counts)

    @property
    def entity_document(self) -> Tensor:
        """(entities,)"""
        counts = torch.tensor(self.entity_counts, device=self.first.device)
        return torch.repeat_interleave(counts)

    @property
    def weight(self) -> int:
        """How many terms the loss averages over."""
        return len(self.pair_head)

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)

    def mention_states(self, states: Tensor) -> Tensor:
        """(documents, length, width) -> (mentions, width), those of the opening markers"""
        return states[self.mention_document, self.mention_slot]
