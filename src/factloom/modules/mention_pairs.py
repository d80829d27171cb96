"""Do two mentions name the same thing? A score a pair of mentions.

Soon, Ng, Lim: A Machine Learning Approach to Coreference Resolution of Noun Phrases, CL 2001
(mention pairs, their features); Lee, He, Lewis, Zettlemoyer: End-to-end Neural Coreference
Resolution, EMNLP 2017, arXiv 1707.07045 (span states and their product).

    mention   m = h + e(type),   h the mean state of its tokens
    pair      f = dropout(relu(W_l m_l + W_r m_r + W_p (m_l * m_r) + W_f features + d(distances)))
    score     s = w f + b;   the mentions name one thing with probability sigmoid(s)
"""

from typing import cast

import torch
from torch import Tensor, nn

from factloom.modules.mention_batch import CHUNK, DISTANCES, FEATURES, MentionBatch
from factloom.modules.pooling import segment_mean


def mention_states(states: Tensor, batch: MentionBatch) -> Tensor:
    """h: (documents, length, width) -> (mentions, width)"""
    tokens = states.flatten(0, 1).index_select(0, batch.token_slot)  # (mention tokens, width)
    return segment_mean(tokens, batch.token_mention, batch.mentions)


class MentionPairScorer(nn.Module):
    """The scores of all pairs of a batch."""

    def __init__(self, width: int, types: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.types = nn.Embedding(types, width)
        nn.init.zeros_(self.types.weight)  # mentions begin as the encoder gives them
        self.left = nn.Linear(width, hidden)
        self.right = nn.Linear(width, hidden, bias=False)
        self.product = nn.Linear(width, hidden, bias=False)
        self.features = nn.Linear(FEATURES, hidden, bias=False)
        self.sentences = nn.Embedding(DISTANCES, hidden)
        self.mentions = nn.Embedding(DISTANCES, hidden)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden, 1)

    def forward(self, states: Tensor, batch: MentionBatch) -> Tensor:
        """(mentions, width) -> (pairs,)"""
        mentions = states + self.types(batch.type)  # (mentions, width)
        left, right = self.left(mentions), self.right(mentions)  # (mentions, hidden)
        scores = [
            self._pairs(mentions, left, right, batch, slice(start, start + CHUNK))
            for start in range(0, len(batch.left), CHUNK)
        ]
        return torch.cat(scores) if scores else states.new_zeros(0)

    def _pairs(
        self, mentions: Tensor, left: Tensor, right: Tensor, batch: MentionBatch, chunk: slice
    ) -> Tensor:
        one, other = batch.left[chunk], batch.right[chunk]  # (pairs,)
        product = mentions.index_select(0, one) * mentions.index_select(0, other)
        hidden = (
            left.index_select(0, one)
            + right.index_select(0, other)
            + self.product(product)
            + self.features(batch.features[chunk].to(product.dtype))
            + self.sentences(batch.sentence_distance[chunk])
            + self.mentions(batch.mention_distance[chunk])
        )  # (pairs, hidden)
        return cast(Tensor, self.output(self.dropout(hidden.relu())).squeeze(1))
