"""R-MSA as it is written in the paper, with the weights of a `ReasoningAttention`.

Every pair gets a key and a value for every bridge: (entities, entities, entities, width) numbers
a head. To compare with, in tests and in time.
"""

import torch
from torch import Tensor

from factloom.modules.pair_reasoning import PairMatrix, ReasoningAttention


def plain_attention(module: ReasoningAttention, pairs: Tensor, matrix: PairMatrix) -> Tensor:
    """(pairs, width) -> (pairs, width), for one document."""
    count, heads = matrix.entities, len(module.patterns)
    grid = pairs.new_zeros(count, count, pairs.shape[1])
    grid = grid.index_put((matrix.head, matrix.tail), pairs)  # (entities, entities, width)
    present = torch.zeros(count, count, dtype=torch.bool)
    present[matrix.head, matrix.tail] = True
    query, key, value = (
        projection(grid).unflatten(2, (heads, -1))
        for projection in (module.query, module.key, module.value)
    )
    outputs = []
    for head, pattern in enumerate(module.patterns):
        keys = _with_own(key[:, :, head], module.key_premises, head, pattern)
        values = _with_own(value[:, :, head], module.value_premises, head, pattern)
        scores = (query[:, :, None, head] * keys).sum(-1) * query.shape[-1] ** -0.5
        scores = scores.masked_fill(~_visible(present, pattern), -torch.inf)
        outputs.append((scores.softmax(-1).unsqueeze(-1) * values).sum(2))  # (s, o, size)
    output: Tensor = module.output(torch.cat(outputs, -1))
    return output[matrix.head, matrix.tail]


def _premises(grid: Tensor, pattern: int) -> tuple[Tensor, Tensor]:
    """The premise with s and the one with o: (s, o, bridge, ...) each."""
    count = len(grid)
    s, o, i = torch.meshgrid(*[torch.arange(count)] * 3, indexing="ij")
    ends = {
        1: ((s, i), (i, o)),
        2: ((s, i), (o, i)),
        3: ((i, s), (o, i)),
        4: ((i, s), (i, o)),
    }
    first, second = ends[pattern]
    return grid[first], grid[second]


def _with_own(grid: Tensor, premises: torch.nn.Module, head: int, pattern: int) -> Tensor:
    """(entities, entities, size) -> (s, o, 1 + bridges, size)"""
    weight = torch.cat([premises.near[head], premises.far[head]])  # (2 x size, size)
    joined = torch.cat(_premises(grid, pattern), -1)  # (s, o, bridges, 2 x size)
    return torch.cat([grid.unsqueeze(2), joined @ weight + premises.bias[head]], 2)


def _visible(present: Tensor, pattern: int) -> Tensor:
    """bool (s, o, 1 + bridges); a pair always sees itself"""
    first, second = _premises(present, pattern)
    return torch.cat([torch.ones_like(present).unsqueeze(2), first & second], 2)
