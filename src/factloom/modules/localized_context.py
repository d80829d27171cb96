"""Localized context pooling: ATLOP (Zhou et al., AAAI 2021), equations 9 to 11.

    q_(s,o) = sum over heads of A_s * A_o, normalised;      c_(s,o) = H^T q_(s,o)

What both entities attend to is the context that matters for their relation. q is symmetric, so
it is made once for the two directions of a pair. For all pairs of a document the sum over heads
is a small matrix product at every position, which never lays out (pairs, heads, length).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

EPSILON = 1e-5


@dataclass(frozen=True, slots=True)
class PairBlock:
    """Pairs of one document: those of some first entities with any of its entities."""

    document: int
    first: slice  # of all entities
    second: slice
    index: Tensor  # (pairs,) into first x second


def pair_attention(entity_attention: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """q of chosen pairs: (entities, heads, length), (pairs,), (pairs,) -> (pairs, length)."""
    return _normalised((entity_attention[first] * entity_attention[second]).sum(1))


def pool_pairs(
    entity_attention: Tensor, values: Tensor, blocks: Sequence[PairBlock], *, keep: bool
) -> Tensor:
    """sum over positions of q_(s,o) * value, for the pairs of all blocks, in their order.

    (entities, heads, length), (documents, length, width) -> (pairs, width). The values are the
    states for c_(s,o). Without `keep` the rows of a block are made again in the backward pass.
    """
    pooled = []
    for block in blocks:
        inputs = (
            entity_attention[block.first],
            entity_attention[block.second],
            block.index,
            values[block.document],
        )
        if keep or not torch.is_grad_enabled():
            pooled.append(_pool_block(*inputs))
        else:
            pooled.append(checkpoint(_pool_block, *inputs, use_reentrant=False))
    return torch.cat(pooled)


def pair_blocks(
    entities: Sequence[int], pairs: Sequence[int], first: Tensor, second: Tensor, elements: int
) -> Iterator[PairBlock]:
    """Cut the pairs of each document where (first entities x entities) exceeds `elements`.

    `entities` and `pairs` count those of each document; `first` and `second` are the pairs'
    entities, sorted by document and first entity.
    """
    entity, pair = 0, 0
    for document, (entity_count, pair_count) in enumerate(zip(entities, pairs, strict=True)):
        rows = max(1, elements // max(1, entity_count))
        of_document = slice(pair, pair + pair_count)
        for start in range(entity, entity + entity_count, rows):
            stop = min(start + rows, entity + entity_count)
            if rows >= entity_count:
                inside = of_document
            else:
                bounds = torch.tensor([start, stop], device=first.device)
                low, high = torch.searchsorted(first[of_document].contiguous(), bounds).tolist()
                inside = slice(pair + low, pair + high)
            if inside.start < inside.stop:
                index = (first[inside] - start) * entity_count + second[inside] - entity
                of_entities = slice(entity, entity + entity_count)
                yield PairBlock(document, slice(start, stop), of_entities, index)
        entity, pair = entity + entity_count, pair + pair_count


def _pool_block(first: Tensor, second: Tensor, index: Tensor, values: Tensor) -> Tensor:
    """(first, heads, length), (second, heads, length), (pairs,), (length, width)."""
    product = first.permute(2, 0, 1) @ second.permute(2, 1, 0)  # (length, first, second)
    rows = product.flatten(1).t().index_select(0, index)  # (pairs, length)
    return _normalised(rows) @ values


def _normalised(rows: Tensor) -> Tensor:
    return rows / (rows.sum(1, keepdim=True) + EPSILON)
