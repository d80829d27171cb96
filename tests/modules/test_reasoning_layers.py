"""The reasoning layers are their formulas, whatever they keep for the backward pass."""

import math

import pytest
import torch
from test_pair_reasoning import WIDTH, all_pairs, features_of, matrix_of
from torch import Tensor

from factloom.modules.reasoning_layers import FeedForward, Highway, ReasoningLayer


@pytest.mark.parametrize("unit", ["feed_forward", "highway"])
def test_a_layer_is_its_attention_and_its_unit(unit: str) -> None:
    pairs = all_pairs(4)
    torch.manual_seed(2)
    layer = ReasoningLayer(WIDTH, unit=unit).double().eval()
    features, matrix = features_of(pairs), matrix_of(pairs, 4)
    expected = layer.unit(features, layer.attention(features, matrix))
    torch.testing.assert_close(layer(features, matrix), expected)


def test_a_layer_that_keeps_nothing_has_the_same_gradients() -> None:
    pairs = all_pairs(4)
    results = []
    for elements in (2**24, 1):
        torch.manual_seed(2)
        layer = ReasoningLayer(WIDTH, dropout=0.0, elements=elements).double()
        features = features_of(pairs).requires_grad_()
        output = layer(features, matrix_of(pairs, 4))
        output.sin().sum().backward()
        results.append([output, features.grad, *(weights.grad for weights in layer.parameters())])
    for kept, made_again in zip(*results, strict=True):
        torch.testing.assert_close(made_again, kept, rtol=1e-10, atol=1e-12)


def test_feed_forward_and_highway_are_their_formulas() -> None:
    torch.manual_seed(2)
    pairs, attended = torch.randn(2, 5, WIDTH, dtype=torch.float64)
    forward = FeedForward(WIDTH, 0.1).double().eval()
    between = normed(pairs + attended)
    inner = gelu(between @ forward.inner.weight.T + forward.inner.bias)
    expected = normed(between + inner @ forward.outer.weight.T + forward.outer.bias)
    torch.testing.assert_close(forward(pairs, attended), expected)
    highway = Highway(WIDTH, 0.1).double().eval()
    assert highway.gate.bias.eq(-1).all()
    gate = 1 / (1 + (-(attended @ highway.gate.weight.T + highway.gate.bias)).exp())
    changed = gelu(attended @ highway.transform.weight.T + highway.transform.bias)
    passed = gate * changed + (1 - gate) * attended
    expected = normed(pairs + passed @ highway.outer.weight.T + highway.outer.bias)
    torch.testing.assert_close(highway(pairs, attended), expected)


def gelu(rows: Tensor) -> Tensor:
    return rows * 0.5 * (1 + torch.erf(rows / math.sqrt(2)))


def normed(rows: Tensor) -> Tensor:
    scale = (rows.var(1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    return (rows - rows.mean(1, keepdim=True)) / scale
