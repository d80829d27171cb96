"""Localized context pooling: ATLOP (Zhou et al., AAAI 2021), equations 9 to 11.

    q_(s,o) = sum over heads of A_s * A_o, normalised;      c_(s,o) = H^T q_(s,o)

What both entities attend to is the context that matters for their relation. q is symmetric,
so it is made once for the two directions of a pair.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

EPSILON = 1e-5


def pair_attention(entity_attention: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """(entities, heads, length), (pairs,), (pairs,) -> q, (pairs, length)."""
    product = (entity_attention[first] * entity_attention[second]).sum(1)  # (pairs, length)
    return product / (product.sum(1, keepdim=True) + EPSILON)


def pool_context(attention: Tensor, states: Tensor, pairs: Sequence[int]) -> Tensor:
    """C = H^T q: (pairs, length), (documents, length, width) -> (pairs, width).

    `pairs` says how many of the rows belong to each document, in their order. One product a
    document does no work on padding, where pairs grow with the square of the entities.
    """
    rows = torch.split(attention, list(pairs))
    return torch.cat([q @ states[index] for index, q in enumerate(rows)])
