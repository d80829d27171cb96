"""Which name does "she" or "the company" stand for, if any? A score a reference and name.

Lee, He, Lewis, Zettlemoyer: End-to-end Neural Coreference Resolution, EMNLP 2017,
arXiv 1707.07045: a mention is ranked against those that it may stand for, among them a dummy of
score 0 for none. Here the others are names alone, in front of it and behind.

    reference  r = h + e(group of its pronoun),   h the mean state of its tokens
    name       n = h + e(type)
    pair       f = dropout(relu(W_r r + W_n n + W_p (r * n) + w described + d(distances)))
    score      s = w f + b
    P(n | r)   = exp(s_n) / (1 + sum over all names of exp(s))
    loss       -log(sum of P over the names of the thing that is meant), or of none
"""

from typing import cast

import torch
from torch import Tensor, nn

from factloom.modules.divergence import in_full
from factloom.modules.mention_batch import DISTANCES
from factloom.modules.pooling import segment_logsumexp, segment_mean
from factloom.modules.reference_batch import ReferenceBatch
from factloom.text.pronouns import PRONOUN_GROUPS


def reference_states(states: Tensor, batch: ReferenceBatch) -> Tensor:
    """h: (documents, length, width) -> (references, width)"""
    tokens = states.flatten(0, 1).index_select(0, batch.token_slot)  # (reference tokens, width)
    return segment_mean(tokens, batch.token_reference, batch.references)


class ReferenceScorer(nn.Module):
    """The scores of all pairs of a batch."""

    def __init__(self, width: int, types: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.groups = nn.Embedding(PRONOUN_GROUPS + 1, width)
        self.types = nn.Embedding(types, width)
        for table in (self.groups, self.types):
            nn.init.zeros_(table.weight)  # they begin as the encoder gives them
        self.left = nn.Linear(width, hidden)
        self.right = nn.Linear(width, hidden, bias=False)
        self.product = nn.Linear(width, hidden, bias=False)
        self.described = nn.Linear(1, hidden, bias=False)
        self.sentences = nn.Embedding(2 * DISTANCES, hidden)
        self.names = nn.Embedding(2 * DISTANCES, hidden)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden, 1)

    def forward(
        self, references: Tensor, names: Tensor, name_types: Tensor, batch: ReferenceBatch
    ) -> Tensor:
        """(references, width), (names, width), (names,) -> (pairs,)"""
        references = references + self.groups(batch.group)
        names = names + self.types(name_types)
        product = references.index_select(0, batch.reference) * names.index_select(0, batch.name)
        hidden = (
            self.left(references).index_select(0, batch.reference)
            + self.right(names).index_select(0, batch.name)
            + self.product(product)
            + self.described(batch.described[:, None].to(product.dtype))
            + self.sentences(batch.sentence_distance)
            + self.names(batch.name_distance)
        )  # (pairs, hidden)
        return cast(Tensor, self.output(self.dropout(hidden.relu())).squeeze(1))


def ranking_loss(scores: Tensor, batch: ReferenceBatch) -> Tensor:
    """(pairs,) -> (known references,)"""
    none = torch.arange(batch.references, device=scores.device)  # of each reference, its dummy
    every = torch.cat([in_full(scores), scores.new_zeros(len(none))])[:, None]
    reference = torch.cat([batch.reference, none])
    means_none = torch.ones_like(batch.known).index_fill(0, batch.reference[batch.right], False)
    right = torch.cat([batch.right, means_none]).nonzero().squeeze(1)
    of_right = segment_logsumexp(every[right], reference[right], len(none))
    return (segment_logsumexp(every, reference, len(none)) - of_right).squeeze(1)[batch.known]
