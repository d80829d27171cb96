"""Localized context pooling: ATLOP (Zhou et al., AAAI 2021), equations 9 to 11.

    q_(s,o) = sum over heads of A_s * A_o, normalised;      c_(s,o) = H^T q_(s,o)

What both entities attend to is the context that matters for their relation. q is symmetric, so
it is made once for the two directions of a pair.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from factloom.modules.marked_batch import MarkedBatch

EPSILON = 1e-5

# Numbers a token that the context of two entities takes, with those of the backward pass.
_LAID_OUT = 4


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
    entity_counts: Sequence[int],
    elements: int,
) -> Tensor:
    """The contexts c of all pairs: (pairs, width).

    `first` (rising) and `second` are the pairs' entities, document by document; `counts` and
    `entity_counts` say how many pairs and entities each document of `states` (documents, length,
    width) has. At most about `elements` numbers are laid out at once: beyond that the rows of some
    entities' pairs are made again in the backward pass.
    """
    room = elements // (_LAID_OUT * states.shape[1])  # pairs of entities, both directions
    again = sum(count**2 for count in entity_counts) > room and torch.is_grad_enabled()
    contexts = []
    for document, pairs, own, every in _chunks(first, counts, entity_counts, room):
        inputs = (
            entity_attention[own],
            entity_attention[every],
            first[pairs] - own.start,
            second[pairs] - every.start,
            states[document],
        )
        if again:
            contexts.append(checkpoint(_pool, *inputs, use_reentrant=False))
        else:
            contexts.append(_pool(*inputs))
    return torch.cat(contexts)


def _pool(own: Tensor, every: Tensor, first: Tensor, second: Tensor, states: Tensor) -> Tensor:
    """The contexts of pairs of the entities `own` with `every` one of their document.

    Both (entities, heads, length). The sum over heads is a product of two small matrices a token;
    to lay out the attention of both ends of every pair would take many times as long.
    """
    with torch.autocast(own.device.type, enabled=False):  # its short numbers would lose small ones
        products = own.permute(2, 0, 1) @ every.permute(2, 1, 0)  # (length, own, every)
    cells = (first * len(every) + second).expand(len(products), -1)  # (length, pairs)
    rows = products.flatten(1).gather(1, cells)
    return (rows / (rows.sum(0) + EPSILON)).t() @ states


def _chunks(
    first: Tensor, counts: Sequence[int], entity_counts: Sequence[int], room: int
) -> Iterator[tuple[int, slice, slice, slice]]:
    """Document, a stretch of its pairs, the entities that are first there, and all of its."""
    pair = entity = 0
    for document, (count, entities) in enumerate(zip(counts, entity_counts, strict=True)):
        size = max(1, room // max(1, entities))
        starts = torch.arange(entity, entity + entities + size, size, device=first.device)
        ends = torch.searchsorted(first[pair : pair + count].contiguous(), starts).tolist()
        every = slice(entity, entity + entities)
        for number, (start, end) in enumerate(pairwise(ends)):
            if start < end:
                own = slice(entity + number * size, min(entity + (number + 1) * size, every.stop))
                yield document, slice(pair + start, pair + end), own, every
        pair, entity = pair + count, entity + entities
