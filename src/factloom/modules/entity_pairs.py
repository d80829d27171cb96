"""From token states to the two vectors of every entity pair: ATLOP (Zhou et al., AAAI 2021).

mention   h_m and a row of attention a head: of its opening marker, or of its tokens on average
entity    h_e = logsumexp over its mentions;    A_e = mean of their attention, a row a head
context   q_(s,o) = norm(sum over heads of A_s * A_o),   c_(s,o) = H^T q_(s,o)
pair      z_s = tanh(W_s [h_s; c]),   z_o = tanh(W_o [h_o; c])
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from factloom.modules.localized_context import pool_pairs
from factloom.modules.marked_batch import MarkedBatch
from factloom.modules.pooling import segment_logsumexp, segment_mean

POOLINGS = {"logsumexp": segment_logsumexp, "mean": segment_mean}


@dataclass(frozen=True, slots=True)
class PairVectors:
    """The pairs of a batch, and the attention that their evidence is read from."""

    head: Tensor  # (pairs, width) z_s
    tail: Tensor  # (pairs, width) z_o
    attention: Tensor  # (entities, heads, length) A_e


class EntityPairs(nn.Module):
    """z_s and z_o of all pairs of a batch.

    `pair_elements` bounds the numbers that the contexts of pairs lay out at once.
    """

    def __init__(
        self,
        encoder_width: int,
        width: int,
        *,
        pooling: str = "logsumexp",
        context: bool = True,
        pair_elements: int = 2**24,
    ) -> None:
        super().__init__()
        self.pooling = POOLINGS[pooling]
        self.context = context
        self.pair_elements = pair_elements
        inputs = encoder_width * (2 if context else 1)
        self.head = nn.Linear(inputs, width)
        self.tail = nn.Linear(inputs, width)

    def forward(
        self, mentions: Tensor, mention_attention: Tensor, states: Tensor, batch: MarkedBatch
    ) -> PairVectors:
        """(mentions, width), (mentions, heads, length), (documents, length, width)"""
        entities = self.pooling(mentions, batch.mention_entity, batch.entities)
        attention = segment_mean(mention_attention, batch.mention_entity, batch.entities)
        # W [h; c] = W_h h + W_c c, the first once an entity, the second once for both directions
        weights = torch.cat([self.head.weight, self.tail.weight])
        entity_part = entities @ weights[:, : entities.shape[1]].t()  # (entities, 2 x width)
        heads, tails = entity_part.chunk(2, dim=1)
        head = heads.index_select(0, batch.pair_head) + self.head.bias  # (pairs, width)
        tail = tails.index_select(0, batch.pair_tail) + self.tail.bias
        if self.context:
            context = pool_pairs(
                attention,
                states,
                batch.first,
                batch.second,
                batch.unordered_counts,
                self.pair_elements,
            )
            context_part = context @ weights[:, entities.shape[1] :].t()
            # (pairs, 2 x width), the same for both directions
            context_part = context_part.index_select(0, batch.pair_unordered)
            head_context, tail_context = context_part.chunk(2, dim=1)
            head, tail = head + head_context, tail + tail_context
        return PairVectors(head.tanh(), tail.tanh(), attention)
