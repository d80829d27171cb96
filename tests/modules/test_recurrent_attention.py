"""Attention with memory against its formula, pair by pair."""

import math

import pytest
import torch
from torch import Tensor

from factloom.modules.recurrent_attention import RecurrentAttention, shifted


def sinusoid(distance: int, width: int) -> list[float]:
    angles = [distance / 10000 ** (2 * n / width) for n in range(width // 2)]
    return [wave(angle) for angle in angles for wave in (math.sin, math.cos)]


def by_pairs(attention: RecurrentAttention, states: Tensor, memory: Tensor, seen: Tensor) -> Tensor:
    """One row, each pair of tokens and each head on its own."""
    width, heads = states.shape[-1], attention.heads
    size = width // heads
    keys = torch.cat([memory, states])
    out = torch.zeros_like(states)
    for i, state in enumerate(states):
        place = len(memory) + i
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            query = attention.query(state)[part]
            columns = [j for j in range(len(keys)) if seen[i, j]]
            scores = []
            for j in columns:
                relative = attention.distance(torch.tensor(sinusoid(place - j, width)))[part]
                content = (query + attention.content_bias[head, 0]) @ attention.key(keys[j])[part]
                distance = (query + attention.distance_bias[head, 0]) @ relative
                scores.append((content + distance) / size**0.5)
            weights = torch.stack(scores).softmax(0)
            values = torch.stack([attention.value(keys[j])[part] for j in columns])
            out[i, part] = weights @ values
    return attention.output(out)


@pytest.mark.parametrize(("length", "remembered"), [(1, 0), (4, 0), (1, 3), (3, 3), (3, 7), (5, 2)])
@torch.no_grad()
def test_scores_are_those_of_the_formula(length: int, remembered: int) -> None:
    torch.manual_seed(length)
    attention = RecurrentAttention(8, 2, 0.0)
    for weights in attention.parameters():
        torch.nn.init.normal_(weights)
    states, memory = torch.randn(2, length, 8), torch.randn(2, remembered, 8)
    seen = torch.ones(2, length, remembered + length, dtype=torch.bool).tril(remembered)
    seen[1, :, : remembered // 2] = False  # the second row remembers less
    found, weights = attention(states, memory, seen)
    for row in range(2):
        expected = by_pairs(attention, states[row], memory[row], seen[row])
        assert torch.allclose(found[row], expected, atol=1e-4)
    assert torch.equal(weights > 0, seen[:, None].expand_as(weights))


def test_rows_are_shifted_as_it_is_drawn() -> None:
    distances = torch.arange(5, -1, -1).expand(1, 3, 6).float()
    rows = shifted(distances)[0].tolist()
    assert rows[0][:4] == [3, 2, 1, 0]
    assert rows[1][:5] == [4, 3, 2, 1, 0]
    assert rows[2] == [5, 4, 3, 2, 1, 0]
