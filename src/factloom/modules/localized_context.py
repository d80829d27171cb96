"""Localized context pooling: ATLOP (Zhou et al., AAAI 2021), equations 9 to 11.

    q_(s,o) = sum over heads of A_s * A_o, normalised;      c_(s,o) = H^T q_(s,o)

What both entities attend to is the context that matters for their relation. q is symmetric, so
it is made once for the two directions of a pair.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from factloom.modules.marked_batch import MarkedBatch

EPSILON = 1e-5


def pair_attention(entity_attention: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """The rows q: (entities, heads, length), (pairs,), (pairs,) -> (pairs, length)."""
    # index_select, because the backward pass of plain indexing is several times slower on CPUs
    left, right = entity_attention.index_select(0, first), entity_attention.index_select(0, second)
    rows = (left * right).sum(1)
    return rows / (rows.sum(1, keepdim=True) + EPSILON)


def evidence_divergence(entity_attention: Tensor, batch: MarkedBatch) -> Tensor:
    """KL(uniform over gold evidence tokens || q), a number a pair with gold evidence.

    It draws the attention of a pair to the sentences that prove its relation: DREEAM (Ma, Wang,
    Okazaki, EACL 2023, arXiv 2302.08675), equation 6.
    """
    pair = batch.evidence_pair
    rows = pair_attention(entity_attention, batch.pair_head[pair], batch.pair_tail[pair])
    target = batch.evidence_target  # (pairs with evidence, length)
    divergence = torch.xlogy(target, target) - target * (rows + 1e-10).log()
    return divergence.sum(1)


def pool_pairs(
    entity_attention: Tensor,
    states: Tensor,
    first: Tensor,
    second: Tensor,
    counts: Sequence[int],
    elements: int,
) -> Tensor:
    """The contexts c of all pairs: (pairs, width).

    `first` and `second` are the pairs' entities, document by document; `counts` says how many
    pairs each document of `states` (documents, length, width) has. At most about `elements`
    numbers are laid out at once: beyond that the rows of a chunk of pairs are made again in the
    backward pass.
    """
    size = max(1, elements // (entity_attention.shape[1] * entity_attention.shape[2]))
    again = sum(counts) > size and torch.is_grad_enabled()
    contexts = []
    for document, chunk in _chunks(counts, size):
        inputs = (entity_attention, first[chunk], second[chunk], states[document])
        if again:
            contexts.append(checkpoint(_pool, *inputs, use_reentrant=False))
        else:
            contexts.append(_pool(*inputs))
    return torch.cat(contexts)


def _pool(entity_attention: Tensor, first: Tensor, second: Tensor, states: Tensor) -> Tensor:
    return pair_attention(entity_attention, first, second) @ states


def _chunks(counts: Sequence[int], size: int) -> Iterator[tuple[int, slice]]:
    """Document and stretch of its pairs, at most `size` of them."""
    start = 0
    for document, count in enumerate(counts):
        for offset in range(0, count, size):
            yield document, slice(start + offset, start + min(offset + size, count))
        start += count
