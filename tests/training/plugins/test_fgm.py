"""FGM moves the embeddings by epsilon along the gradient, and adds the gradient found there."""

from pathlib import Path

import torch
from adversarial_steps import (
    PARTS,
    TABLE,
    assert_sum,
    first_weights,
    length,
    moved_by,
    plain_gradients,
    watched_step,
)

EPSILON = 0.7


def test_the_table_moves_by_epsilon_along_the_gradient(tmp_path: Path) -> None:
    watch = watched_step(tmp_path, {"fgm": {"epsilon": EPSILON}})
    gradient = plain_gradients(first_weights())[TABLE]
    assert len(watch.tables) == 2 * PARTS
    torch.testing.assert_close(watch.moves[1], EPSILON * gradient / length(gradient))
    assert abs(length(watch.moves[1]) - EPSILON) < 1e-12


def test_clean_and_adversarial_gradients_add_up(tmp_path: Path) -> None:
    watch = watched_step(tmp_path, {"fgm": {"epsilon": EPSILON}})
    clean = plain_gradients(first_weights())
    gradient = clean[TABLE]
    adversarial = plain_gradients(moved_by(EPSILON * gradient / length(gradient)))
    assert_sum(watch.gradients, clean, adversarial)
    assert not torch.allclose(adversarial[TABLE], gradient, rtol=1e-2)


def test_it_runs_on_the_sum_that_plugins_before_it_left(tmp_path: Path) -> None:
    watch = watched_step(tmp_path, {"fgm": {"epsilon": EPSILON}, "fgsm": {"epsilon": 0.1}})
    clean = plain_gradients(first_weights())
    first = plain_gradients(moved_by(EPSILON * clean[TABLE] / length(clean[TABLE])))
    second = plain_gradients(moved_by(0.1 * (clean[TABLE] + first[TABLE]).sign()))
    assert_sum(watch.gradients, clean, first, second)
