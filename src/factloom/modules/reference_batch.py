"""Pronouns and nominals of several documents, and the names they may stand for, as index arrays.

How documents become such a batch: layouts/reference_documents.py; what is made of it:
modules/reference_scores.py.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, cast

from factloom.modules.devices import Array, moved

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class ReferenceBatch(Generic[Array]):
    """References and names count through the whole batch."""

    token_slot: Array  # (reference tokens,) slot, through all documents
    token_reference: Array  # (reference tokens,) rising
    group: Array  # (references,) of its pronoun
    reference: Array  # (pairs,) rising
    name: Array  # (pairs,) a mention of the `MentionBatch`
    described: Array  # (pairs,) 1 where the name holds what the nominal says
    sentence_distance: Array  # (pairs,) a class; those of names behind come last
    name_distance: Array  # (pairs,) likewise, counted in names
    right: Array  # bool (pairs,) whether the name is one of the thing that is meant
    known: Array  # bool (references,) whether it is known what is meant, if anything
    pair_counts: tuple[int, ...]  # pairs of each document

    @property
    def references(self) -> int:
        count: int = cast(Any, self.group).shape[0]  # a graph that is exported follows it
        return count

    def to(self, device: "torch.device | str") -> "ReferenceBatch":
        return moved(cast(ReferenceBatch, self), device)
