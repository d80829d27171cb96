"""The best assignment against all of them."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.evaluation.assignment import best_assignment

Weights = list[list[float]]


@st.composite
def matrices(draw: st.DrawFn) -> Weights:
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    weight = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(-2, 2)  # with ties
    row = st.lists(weight, min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=rows, max_size=rows))


def largest_sum(weights: Weights) -> float:
    """Over every way to give the shorter side partners."""
    if len(weights) > len(weights[0]):
        weights = [list(column) for column in zip(*weights, strict=True)]
    ways = permutations(range(len(weights[0])), len(weights))
    return max(sum(row[column] for row, column in zip(weights, way, strict=True)) for way in ways)


@given(matrices())
def test_no_other_assignment_is_better(weights: Weights) -> None:
    pairs = best_assignment(weights)
    rows, columns = zip(*pairs, strict=True)
    assert len(set(rows)) == len(set(columns)) == len(pairs)
    assert len(pairs) == min(len(weights), len(weights[0]))
    found = sum(weights[row][column] for row, column in pairs)
    assert found == pytest.approx(largest_sum(weights))


def test_the_nearest_partner_is_given_up_where_that_gains_more() -> None:
    assert best_assignment([[10, 9], [9, 1]]) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_nobody_is_assigned_to_nobody(shape: tuple[int, int]) -> None:
    assert best_assignment(np.zeros(shape)) == []
