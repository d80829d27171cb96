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
        parts, attention = self.entities(
            mentions, mention_attention, batch.mention_entity, batch.entities
        )
        context = None
        if self.context:
            context = pool_pairs(
                attention,
                states,
                batch.first,
                batch.second,
                batch.unordered_counts,
                batch.entity_counts,
                self.pair_elements,
            )
        pairs = batch.pair_unordered, batch.pair_head, batch.pair_tail
        return PairVectors(*self.ends(parts, context, *pairs), attention)

    def entities(
        self, mentions: Tensor, mention_attention: Tensor, mention_entity: Tensor, count: int
    ) -> tuple[Tensor, Tensor]:
        """What entities say of z_s and z_o, (entities, 2 x width), and their attention A."""
        entities = self.pooling(mentions, mention_entity, count)
        attention = segment_mean(mention_attention, mention_entity, count)
        # W [h; c] = W_h h + W_c c, the first once an entity, the second once for both directions
        weights = torch.cat([self.head.weight, self.tail.weight])
        return entities @ weights[:, : entities.shape[1]].t(), attention

    def ends(
        self,
        parts: Tensor,
        context: Tensor | None,
        pair_unordered: Tensor,
        pair_head: Tensor,
        pair_tail: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """z_s and z_o, (pairs, width) twice; `context` is that of the unordered pairs."""
        heads, tails = parts.chunk(2, dim=1)
        head = (heads + self.head.bias).index_select(0, pair_head)  # (pairs, width)
        tail = (tails + self.tail.bias).index_select(0, pair_tail)
        if context is not None:
            weights = torch.cat([self.head.weight, self.tail.weight])
            context_part = context @ weights[:, -context.shape[1] :].t()
            # (pairs, 2 x width), the same for both directions
            context_part = context_part.index_select(0, pair_unordered)
            head_context, tail_context = context_part.chunk(2, dim=1)
            head, tail = head + head_context, tail + tail_context
        return head.tanh(), tail.tanh()
