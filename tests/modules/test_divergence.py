"""Divergences between logits, against sums over the outcomes."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from factloom.modules.divergence import sigmoid_divergence, softmax_divergence

rows = st.integers(1, 5).flatmap(
    lambda classes: st.tuples(
        *[st.lists(st.floats(-20, 20), min_size=classes, max_size=classes)] * 2
    )
)


def softmax(row: list[float]) -> list[float]:
    powers = [math.exp(number) for number in row]
    return [power / sum(powers) for power in powers]


def divergence(p: list[float], q: list[float]) -> float:
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))


@given(rows)
def test_softmax_divergence_is_the_sum_over_the_classes(pair: tuple[list[float], ...]) -> None:
    found = softmax_divergence(*(torch.tensor([row], dtype=torch.float64) for row in pair))
    assert found.shape == (1,)
    assert float(found) == pytest.approx(divergence(*map(softmax, pair)), rel=1e-6, abs=1e-9)


@given(rows)
def test_sigmoid_divergence_is_the_sum_over_yes_and_no_of_each_class(
    pair: tuple[list[float], ...],
) -> None:
    found = sigmoid_divergence(*(torch.tensor([row], dtype=torch.float64) for row in pair))
    expected = sum(
        divergence(softmax([0.0, p]), softmax([0.0, q])) for p, q in zip(*pair, strict=True)
    )
    assert found.shape == (1,)
    assert float(found) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("function", [softmax_divergence, sigmoid_divergence])
def test_far_off_logits_have_a_finite_divergence_and_gradient(function: object) -> None:
    reference = torch.tensor([[200.0, -300.0]])
    logits = torch.tensor([[-200.0, 300.0]], requires_grad=True)
    found = function(reference, logits)
    found.sum().backward()
    assert found.isfinite().all()
    assert logits.grad.isfinite().all()


@pytest.mark.parametrize("function", [softmax_divergence, sigmoid_divergence])
def test_logits_of_half_precision_are_compared_in_float32(function: object) -> None:
    reference = torch.tensor([[2.0, -3.0, 1.0]], dtype=torch.bfloat16)
    logits = torch.tensor([[2.5, -3.0, 0.5]], dtype=torch.bfloat16)
    torch.testing.assert_close(
        function(reference, logits), function(reference.float(), logits.float())
    )
