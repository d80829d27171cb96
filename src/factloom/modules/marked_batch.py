"""The mentions, entities and pairs of several documents as index tensors.

They stand in one row each, with index tensors between them, so that a model needs no loop and no
padding for them. How documents become such a batch: layouts/marked_documents.py.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, cast

from factloom.modules.class_groups import ClassGroup
from factloom.modules.devices import Array, moved
from factloom.modules.windows import WindowBatch

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class MarkedBatch(Generic[Array]):
    """Several documents as tensors; `entity` indices count through the whole batch."""

    windows: WindowBatch[Array]
    mention_document: Array  # (mentions,)
    mention_slot: Array  # (mentions,)
    mention_entity: Array  # (mentions,)
    entity_counts: tuple[int, ...]  # entities of each document
    first: Array  # (unordered pairs,) entity, rising
    second: Array  # (unordered pairs,) entity
    unordered_counts: tuple[int, ...]  # unordered pairs of each document
    pair_unordered: Array  # (pairs,)
    pair_head: Array  # (pairs,) entity
    pair_tail: Array  # (pairs,) entity
    slot_sentence: Array  # (documents, length) sentence, -1 outside of all
    labels: Array  # bool (pairs, relations)
    unknown: Array  # bool (pairs, relations) of which nothing is known; never where labels are
    denied: Array  # (denied, 2) pair and relation that the text denies
    evidence_pair: Array  # (pairs with gold evidence,)
    evidence_target: Array  # (pairs with gold evidence, length) uniform over evidence tokens
    asked: tuple[ClassGroup, ...] | None = None  # which relations of which pairs; None: all

    @property
    def entities(self) -> int:
        return sum(self.entity_counts)

    @property
    def entity_document(self: "MarkedBatch") -> "Tensor":
        """(entities,)"""
        import torch

        counts = torch.tensor(self.entity_counts, device=self.first.device)
        return torch.repeat_interleave(counts)

    @property
    def weight(self) -> int:
        """How many terms the loss averages over."""
        return len(cast(Any, self.pair_head))

    @property
    def decided(self: "MarkedBatch") -> "Tensor":
        """bool (pairs, relations) what is known of pairs of which other things are unknown"""
        return ~self.unknown & self.unknown.any(1, keepdim=True)

    def to(self, device: "torch.device | str") -> "MarkedBatch":
        return moved(cast(MarkedBatch, self), device)

    def mention_states(self: "MarkedBatch", states: "Tensor") -> "Tensor":
        """(documents, length, width) -> (mentions, width), those of the opening markers"""
        return states[self.mention_document, self.mention_slot]
