"""Pooling by index tensors equals a plain loop over the segments."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from factloom.modules.pooling import segment_logsumexp, segment_mean

SEGMENT = torch.tensor([2, 0, 2, 1, 2, 0])  # not sorted: mentions come in any order
Pool = Callable[[Tensor, Tensor, int], Tensor]


def rows(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def logsumexp_of(numbers: list[float]) -> float:
    return math.log(sum(math.exp(number) for number in numbers))


def mean_of(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)


@pytest.mark.parametrize(
    ("pool", "reference"), [(segment_logsumexp, logsumexp_of), (segment_mean, mean_of)]
)
def test_pooling_equals_a_loop_over_segments_and_columns(
    pool: Pool, reference: Callable[[list[float]], float]
) -> None:
    values = rows(6, 4)
    found = pool(values, SEGMENT, 3)
    for segment in range(3):
        for column in range(4):
            members = [
                float(values[row, column]) for row in range(6) if int(SEGMENT[row]) == segment
            ]
            assert float(found[segment, column]) == pytest.approx(reference(members), rel=1e-12)


def test_mean_takes_rows_of_any_shape() -> None:
    values = rows(6, 2, 5)  # (mentions, heads, length)
    found = segment_mean(values, SEGMENT, 3)
    assert torch.allclose(found[2], (values[0] + values[2] + values[4]) / 3, rtol=1e-12)
    assert found.shape == (3, 2, 5)


def test_mean_of_a_segment_without_rows_is_zero() -> None:
    assert segment_mean(rows(6, 4), SEGMENT, 5)[3:].eq(0).all()


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_logsumexp_stays_finite_for_large_numbers(size: float) -> None:
    values = torch.full((6, 1), size)
    found = segment_logsumexp(values, SEGMENT, 3).squeeze(1)
    assert found.tolist() == pytest.approx([size + math.log(count) for count in (2, 1, 3)])


def test_logsumexp_of_one_row_is_that_row_exactly() -> None:
    values = rows(4, 3)
    assert torch.equal(segment_logsumexp(values, torch.arange(4), 4), values)


@pytest.mark.parametrize("pool", [segment_logsumexp, segment_mean])
def test_gradients_are_those_of_the_formula(pool: Pool) -> None:
    values = rows(6, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda v: pool(v, SEGMENT, 3), (values,))


def test_gradient_of_logsumexp_is_right_where_two_rows_are_equally_large() -> None:
    values = torch.zeros(2, 1, dtype=torch.float64, requires_grad=True)
    segment_logsumexp(values, torch.tensor([0, 0]), 1).sum().backward()
    assert values.grad is not None
    assert values.grad.flatten().tolist() == pytest.approx([0.5, 0.5])
