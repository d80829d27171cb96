"""The layer of the cognitive graph's network, node by node."""

import math

import pytest
import torch
from torch import Tensor

from factloom.modules.graph_layer import GraphLayer


def gelu(values: list[float]) -> list[float]:
    return [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in values]


def times(weights: Tensor, values: list[float]) -> list[float]:
    return [sum(w * v for w, v in zip(row, values, strict=True)) for row in weights.tolist()]


@pytest.mark.parametrize("edges", [[], [(0, 1)], [(0, 2), (1, 2), (2, 0), (3, 2), (0, 1)]])
def test_new_states_equal_plain_loops(edges: list[tuple[int, int]]) -> None:
    torch.manual_seed(0)
    layer, states = GraphLayer(3).double(), torch.randn(4, 3).double()
    found = layer(states, torch.tensor(edges, dtype=torch.long).view(-1, 2))
    for node in range(4):
        before = [source for source, target in edges if target == node]
        sent = [gelu(times(layer.sent.weight, states[source].tolist())) for source in before]
        mean = [sum(column) / len(before) for column in zip(*sent, strict=True)] or [0.0] * 3
        own = times(layer.own.weight, states[node].tolist())
        expected = gelu([a + b for a, b in zip(own, gelu(mean), strict=True)])
        assert found[node].tolist() == pytest.approx(expected)


def test_nobody_is_told_by_who_comes_behind() -> None:
    torch.manual_seed(1)
    layer, states = GraphLayer(2), torch.randn(3, 2)
    edges = torch.tensor([(0, 1), (1, 2)])
    changed = states.clone()
    changed[2] += 1
    assert torch.equal(layer(states, edges)[:2], layer(changed, edges)[:2])
    assert not torch.equal(layer(states, edges)[2], layer(changed, edges)[2])
