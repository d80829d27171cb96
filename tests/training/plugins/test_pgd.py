"""PGD goes uphill in small steps within a ball; clean and last adversarial gradients add up."""

from pathlib import Path

import pytest
import torch
from adversarial_steps import (
    TABLE,
    assert_sum,
    first_weights,
    length,
    moved_by,
    plain_gradients,
    watched_step,
)
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from factloom.training.plugins.pgd import projected


def naive_moves(epsilon: float, alpha: float, steps: int) -> list[Tensor]:
    """r_1 ... r_K, each from the gradient at the one before."""
    moves = [torch.zeros_like(first_weights()[TABLE])]
    for _ in range(steps):
        gradient = plain_gradients(moved_by(moves[-1]))[TABLE]
        move = moves[-1] + alpha * gradient / length(gradient)
        if length(move) > epsilon:
            move = move * epsilon / length(move)
        moves.append(move)
    return moves[1:]


@pytest.mark.parametrize(
    ("epsilon", "alpha", "steps"),
    [(5.0, 0.5, 3), (0.8, 0.5, 4), (0.2, 0.5, 2), (0.7, 0.7, 1)],
    ids=["within the ball", "along its surface", "from the first step on", "as FGM"],
)
def test_steps_and_gradients_are_those_of_the_formula(
    tmp_path: Path, epsilon: float, alpha: float, steps: int
) -> None:
    settings = {"epsilon": epsilon, "alpha": alpha, "steps": steps}
    watch = watched_step(tmp_path, {"pgd": settings})
    moves = naive_moves(epsilon, alpha, steps)
    assert len(watch.moves) == 1 + steps
    for found, expected in zip(watch.moves[1:], moves, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)
    last = plain_gradients(moved_by(moves[-1]))
    assert_sum(watch.gradients, plain_gradients(first_weights()), last)


def test_no_step_leaves_the_ball(tmp_path: Path) -> None:
    watch = watched_step(tmp_path, {"pgd": {"epsilon": 0.6, "alpha": 0.4, "steps": 5}})
    lengths = [length(move) for move in watch.moves[1:]]
    assert max(lengths) < 0.6 + 1e-12
    assert lengths[-1] == pytest.approx(0.6)
    assert lengths[0] == pytest.approx(0.4)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6), st.floats(1e-3, 1e3))
def test_projection_gives_the_nearest_point(numbers: list[float], radius: float) -> None:
    point = torch.tensor(numbers, dtype=torch.float64)
    found = projected(point, radius)
    if length(point) <= radius:
        assert found.equal(point)
    else:
        assert length(found) == pytest.approx(radius)
        # the same direction: nothing of the point is left across it
        across = point - found * float(point @ found) / float(found @ found)
        assert length(across) <= 1e-9 * length(point)
