"""The mentions of several documents, and pairs of them, as index arrays.

How documents become such a batch: layouts/mention_documents.py; what is made of it:
modules/mention_pairs.py.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, cast

from factloom.modules.devices import Array, moved
from factloom.text.names import OVERLAPS

if TYPE_CHECKING:
    import torch

FEATURES = OVERLAPS + 1  # how names overlap, and whether the types are the same
DISTANCES = 10  # 0, 1, 2 to 3, 4 to 7, ..., 256 and more
CHUNK = 2**16  # pairs that are laid out at once


@dataclass(frozen=True, slots=True)
class MentionBatch(Generic[Array]):
    """Mentions count through the whole batch."""

    token_slot: Array  # (mention tokens,) slot, through all documents
    token_mention: Array  # (mention tokens,) rising
    type: Array  # (mentions,)
    left: Array  # (pairs,)
    right: Array  # (pairs,)
    features: Array  # (pairs, FEATURES)
    sentence_distance: Array  # (pairs,)
    mention_distance: Array  # (pairs,)
    same: Array  # bool (pairs,)
    pair_counts: tuple[int, ...]  # pairs of each document

    @property
    def mentions(self) -> int:
        count: int = cast(Any, self.type).shape[0]  # a graph that is exported follows it
        return count

    def to(self, device: "torch.device | str") -> "MentionBatch":
        return moved(cast(MentionBatch, self), device)
