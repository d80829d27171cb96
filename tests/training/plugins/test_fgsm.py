"""FGSM moves every number of the embeddings in the step by epsilon, along the gradient's sign."""

from pathlib import Path

import torch
from adversarial_steps import (
    TABLE,
    assert_sum,
    first_weights,
    moved_by,
    plain_gradients,
    watched_step,
)

EPSILON = 0.05


def signs() -> torch.Tensor:
    """+1, 0 or -1, by comparison."""
    gradient = plain_gradients(first_weights())[TABLE]
    return (gradient > 0).double() - (gradient < 0).double()


def test_every_number_moves_by_epsilon_and_words_outside_the_step_stay(tmp_path: Path) -> None:
    watch = watched_step(tmp_path, {"fgsm": {"epsilon": EPSILON}})
    torch.testing.assert_close(watch.moves[1], EPSILON * signs())
    unmoved = (watch.moves[1] == 0).all(1)
    assert 0 < int(unmoved.sum()) < len(unmoved)


def test_clean_and_adversarial_gradients_add_up(tmp_path: Path) -> None:
    watch = watched_step(tmp_path, {"fgsm": {"epsilon": EPSILON}})
    clean = plain_gradients(first_weights())
    assert_sum(watch.gradients, clean, plain_gradients(moved_by(EPSILON * signs())))
