"""Localized context pooling equals a plain loop over pairs, heads and tokens."""

import pytest
import torch
from torch import Tensor

from factloom.modules.localized_context import (
    EPSILON,
    pair_attention,
    pool_pairs,
)

HEADS, LENGTH, WIDTH = 3, 7, 4
ENTITIES = (3, 0, 1, 4)  # of each document
FIRST, SECOND = torch.tensor([0, 0, 1, 4, 4, 6]), torch.tensor([1, 2, 2, 5, 7, 7])
PAIRS = (3, 0, 0, 3)  # of each document; not all that its entities could form
DOCUMENT = (0, 0, 0, 3, 3, 3)  # of each pair


def random(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(len(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def entity_attention() -> Tensor:
    return random(sum(ENTITIES), HEADS, LENGTH).softmax(-1)


def contexts(attention: Tensor, states: Tensor, elements: int) -> Tensor:
    return pool_pairs(attention, states, FIRST, SECOND, PAIRS, ENTITIES, elements)


def pair_attention_by_loop(attention: Tensor, first: int, second: int) -> list[float]:
    product = [
        sum(float(attention[first, h, t] * attention[second, h, t]) for h in range(HEADS))
        for t in range(LENGTH)
    ]
    return [number / (sum(product) + EPSILON) for number in product]


def test_pair_attention_equals_a_loop_over_pairs_tokens_and_heads() -> None:
    attention = entity_attention()
    found = pair_attention(attention, FIRST, SECOND)
    for row, first, second in zip(found, FIRST.tolist(), SECOND.tolist(), strict=True):
        expected = pair_attention_by_loop(attention, first, second)
        assert row.tolist() == pytest.approx(expected, rel=1e-12)


def test_pair_attention_does_not_depend_on_the_direction() -> None:
    attention = entity_attention()
    there = pair_attention(attention, FIRST, SECOND)
    back = pair_attention(attention, SECOND, FIRST)
    assert torch.equal(there, back)


def test_pair_attention_is_a_distribution_over_tokens() -> None:
    found = pair_attention(entity_attention(), FIRST, SECOND)
    assert found.ge(0).all()
    assert found.sum(1).tolist() == pytest.approx([1.0] * len(FIRST), abs=1e-4)


def test_entities_that_attend_to_nothing_in_common_have_no_context() -> None:
    attention = torch.zeros(2, 1, 4)
    attention[0, 0, 0] = attention[1, 0, 3] = 1.0
    assert pair_attention(attention, torch.tensor([0]), torch.tensor([1])).eq(0).all()


@pytest.mark.parametrize("elements", [1, 200, 1000])  # one first entity at a time, two, all
def test_context_equals_a_loop_over_pairs_however_they_are_cut(elements: int) -> None:
    attention, states = entity_attention(), random(len(ENTITIES), LENGTH, WIDTH)
    found = contexts(attention, states, elements)
    ends = zip(DOCUMENT, FIRST.tolist(), SECOND.tolist(), strict=True)
    for row, (document, first, second) in zip(found, ends, strict=True):
        weights = pair_attention_by_loop(attention, first, second)
        expected = [
            sum(weights[t] * float(states[document, t, column]) for t in range(LENGTH))
            for column in range(WIDTH)
        ]
        assert row.tolist() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("elements", [1, 200, 1000])
def test_gradients_are_those_of_the_formula(elements: int) -> None:
    attention = entity_attention().requires_grad_()
    states = random(len(ENTITIES), LENGTH, WIDTH).requires_grad_()

    def context(attention: Tensor, states: Tensor) -> Tensor:
        return contexts(attention, states, elements)

    assert torch.autograd.gradcheck(context, (attention, states))


def test_chunks_change_no_gradient() -> None:
    gradients = []
    for elements in (1, 1000):
        attention = entity_attention().requires_grad_()
        contexts(
            attention, random(len(ENTITIES), LENGTH, WIDTH), elements
        ).square().sum().backward()
        gradients.append(attention.grad)
    assert torch.allclose(*gradients, rtol=1e-12, atol=0)
