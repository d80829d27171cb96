"""One threshold for all relations: its loss, and where it is put."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from factloom.modules.decisions import highest
from factloom.modules.thresholds import GlobalThreshold


def f1_of(margins: Tensor, labels: Tensor, gold: int) -> float:
    held = margins > 0
    correct = int((held & labels).sum())
    return 2 * correct / (int(held.sum()) + gold)


def best_f1(logits: Tensor, labels: Tensor, gold: int) -> float:
    """The highest F1 that any threshold gives, by trying one below each score."""
    scores = logits.flatten().tolist()
    found = [0.0]
    for score in scores:
        held = [other >= score for other in scores]
        right = [a and b for a, b in zip(held, labels.flatten().tolist(), strict=True)]
        found.append(2 * sum(right) / (sum(held) + gold))
    return max(found)


def fitted(logits: Tensor, labels: Tensor, gold: int) -> GlobalThreshold:
    rule = GlobalThreshold()
    rule.fit(logits, labels, gold)
    return rule


def test_loss_is_the_binary_cross_entropy_summed_over_relations() -> None:
    generator = torch.Generator().manual_seed(2)
    logits = 3 * torch.randn(5, 4, generator=generator, dtype=torch.float64)
    labels = torch.rand(5, 4, generator=generator) < 0.3
    found = GlobalThreshold().loss(logits, labels)
    for pair in range(5):
        expected = 0.0
        for logit, holds in zip(logits[pair].tolist(), labels[pair].tolist(), strict=True):
            probability = 1 / (1 + math.exp(-logit))
            expected -= math.log(probability if holds else 1 - probability)
        assert float(found[pair]) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_fitted_threshold_is_the_best_of_all_by_brute_force(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(7, 5, generator=generator)
    labels = torch.rand(7, 5, generator=generator) < (logits * 0.5).sigmoid()
    gold = int(labels.sum()) + seed % 3  # some gold relations are of pairs that are not asked for
    rule = fitted(logits, labels, gold)
    assert f1_of(rule.margins(logits), labels, gold) == pytest.approx(best_f1(logits, labels, gold))


@given(
    st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), st.booleans()), min_size=1),
    st.integers(0, 3),
)
def test_equal_scores_are_kept_or_left_together(
    scored: list[tuple[float, bool]], missing: int
) -> None:
    logits = torch.tensor([[score for score, _ in scored]])
    labels = torch.tensor([[holds for _, holds in scored]])
    gold = max(1, int(labels.sum()) + missing)
    rule = fitted(logits, labels, gold)
    assert f1_of(rule.margins(logits), labels, gold) == pytest.approx(best_f1(logits, labels, gold))


def test_all_relations_hold_where_that_is_best() -> None:
    logits = torch.tensor([[0.3, -0.2], [1.5, -4.0]])
    rule = fitted(logits, torch.ones(2, 2, dtype=torch.bool), gold=4)
    assert rule.margins(logits).gt(0).all()


def test_threshold_lies_between_the_scores_that_it_parts() -> None:
    logits = torch.tensor([[4.0, 3.0, 1.0, 0.0]])
    rule = fitted(logits, torch.tensor([[True, True, False, False]]), gold=2)
    assert float(rule.threshold) == 2.0


def test_forbidden_relations_have_no_say() -> None:
    logits = torch.tensor([[4.0, -torch.inf, 1.0, -torch.inf]])
    rule = fitted(logits, torch.tensor([[True, True, True, False]]), gold=3)
    assert rule.margins(logits).gt(0).tolist() == [[True, False, True, False]]


def test_threshold_stays_where_it_is_without_pairs() -> None:
    rule = fitted(torch.zeros(0, 3), torch.zeros(0, 3, dtype=torch.bool), gold=2)
    assert float(rule.threshold) == 0.0


def test_threshold_is_saved_with_the_weights() -> None:
    rule = fitted(torch.tensor([[4.0, 2.0]]), torch.tensor([[True, False]]), gold=1)
    other = GlobalThreshold()
    other.load_state_dict(rule.state_dict())
    assert float(other.threshold) == 3.0


def test_only_the_highest_scores_of_a_pair_are_kept() -> None:
    scores = np.array([[3.0, 1.0, 2.0], [-1.0, -3.0, -2.0]])
    none = -np.inf
    assert highest(scores, 2).tolist() == [[3.0, none, 2.0], [-1.0, none, -2.0]]
    assert (highest(scores, 5) == scores).all()
