"""The adaptive-threshold loss against a brute-force sum over classes, and its decision rule."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from factloom.modules.decisions import balanced_shift, strongest
from factloom.modules.thresholds import AdaptiveThreshold

RELATIONS = 6
PAIRS = 12


def logits_and_labels() -> tuple[Tensor, Tensor]:
    """Pairs with no, one, several and all relations positive."""
    generator = torch.Generator().manual_seed(11)
    logits = 3 * torch.randn(PAIRS, RELATIONS + 1, generator=generator, dtype=torch.float64)
    labels = torch.rand(PAIRS, RELATIONS, generator=generator) < 0.4
    labels[0], labels[1], labels[2] = False, True, False
    labels[2, 4] = True
    return logits, labels


def brute_force_loss(logits: list[float], positives: list[bool]) -> float:
    """L1 + L2 of one pair, class by class; the first logit is the threshold class."""
    threshold, *relations = logits
    positive = [logit for logit, holds in zip(relations, positives, strict=True) if holds]
    negative = [logit for logit, holds in zip(relations, positives, strict=True) if not holds]
    among_positives = sum(math.exp(logit) for logit in [threshold, *positive])
    among_negatives = sum(math.exp(logit) for logit in [threshold, *negative])
    first = -sum(math.log(math.exp(logit) / among_positives) for logit in positive)
    return first - math.log(math.exp(threshold) / among_negatives)


def test_loss_equals_a_brute_force_sum_over_classes() -> None:
    logits, labels = logits_and_labels()
    found = AdaptiveThreshold().loss(logits, labels)
    expected = [
        brute_force_loss(row, holds)
        for row, holds in zip(logits.tolist(), labels.tolist(), strict=True)
    ]
    assert labels.sum(1).unique().tolist() == sorted({sum(row) for row in labels.tolist()})
    assert found.tolist() == pytest.approx(expected, rel=1e-12)


def test_unknown_relations_count_neither_as_positive_nor_as_negative() -> None:
    logits, labels = logits_and_labels()
    unknown = (torch.rand(labels.shape, generator=torch.Generator().manual_seed(3)) < 0.5) & ~labels
    found = AdaptiveThreshold().loss(logits, labels, unknown)
    expected = []
    for row, holds, doubt in zip(logits.tolist(), labels.tolist(), unknown.tolist(), strict=True):
        known = [
            (logit, held) for logit, held, d in zip(row[1:], holds, doubt, strict=True) if not d
        ]
        left = [row[0], *(logit for logit, _ in known)]
        expected.append(brute_force_loss(left, [held for _, held in known]))
    assert found.tolist() == pytest.approx(expected, rel=1e-12)


def test_loss_equals_the_formulation_that_subtracts_a_large_number_from_masked_classes() -> None:
    """As ATLOP's authors write it: softmax over all classes, masked ones lowered by 1e30."""
    logits, labels = logits_and_labels()
    positive = torch.cat([torch.zeros(PAIRS, 1), labels], 1).double()
    threshold = torch.zeros_like(logits)
    threshold[:, 0] = 1.0
    lowered = logits - (1 - positive - threshold) * 1e30
    first = -(lowered.log_softmax(-1) * positive).sum(1)
    lowered = logits - positive * 1e30
    second = -(lowered.log_softmax(-1) * threshold).sum(1)
    found = AdaptiveThreshold().loss(logits, labels)
    assert torch.allclose(found, first + second, rtol=1e-12)


def test_loss_of_a_pair_without_relations_is_the_cross_entropy_of_the_threshold() -> None:
    logits, _ = logits_and_labels()
    labels = torch.zeros(PAIRS, RELATIONS, dtype=torch.bool)
    expected = torch.nn.functional.cross_entropy(
        logits, torch.zeros(PAIRS, dtype=torch.long), reduction="none"
    )
    assert torch.allclose(AdaptiveThreshold().loss(logits, labels), expected, rtol=1e-12)


def test_gradient_is_that_of_the_formula_for_every_kind_of_pair() -> None:
    logits, labels = logits_and_labels()
    rule = AdaptiveThreshold()
    assert torch.autograd.gradcheck(
        lambda values: rule.loss(values, labels), (logits.requires_grad_(),)
    )


def test_a_step_raises_the_only_positive_and_lowers_the_negatives() -> None:
    logits, _ = logits_and_labels()
    labels = torch.nn.functional.one_hot(torch.arange(PAIRS) % RELATIONS, RELATIONS).bool()
    logits.requires_grad_()
    AdaptiveThreshold().loss(logits, labels).sum().backward()
    assert logits.grad is not None
    assert logits.grad[:, 1:][labels].lt(0).all()
    assert logits.grad[:, 1:][~labels].gt(0).all()


def test_loss_stays_finite_for_large_logits() -> None:
    logits, labels = logits_and_labels()
    logits = (1e4 * logits).float().requires_grad_()
    loss = AdaptiveThreshold().loss(logits, labels)
    loss.sum().backward()
    assert loss.isfinite().all()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()


def test_margin_is_the_logit_less_that_of_the_threshold_class() -> None:
    logits, _ = logits_and_labels()
    margins = AdaptiveThreshold().margins(logits)
    for pair in range(PAIRS):
        for relation in range(RELATIONS):
            expected = float(logits[pair, relation + 1]) - float(logits[pair, 0])
            assert float(margins[pair, relation]) == expected


@pytest.mark.parametrize("most", range(1, RELATIONS + 2))
def test_relations_that_hold_are_the_highest_above_the_threshold(most: int) -> None:
    logits, _ = logits_and_labels()
    margins = AdaptiveThreshold().margins(logits).numpy()
    held = strongest(margins, most)
    for pair in range(PAIRS):
        ranked = sorted(range(RELATIONS), key=lambda r: -float(margins[pair, r]))
        expected = {relation for relation in ranked[:most] if float(margins[pair, relation]) > 0}
        assert set(held[pair].nonzero()[0].tolist()) == expected


def test_a_relation_exactly_at_the_threshold_does_not_hold() -> None:
    assert strongest(np.array([[0.0, -0.0, 1e-30]]), 2).tolist() == [[False, False, True]]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_equal_margins_do_not_make_more_relations_than_allowed(most: int) -> None:
    margins = np.array([[1.0, 1.0, 1.0, 1.0], [2.0, 1.0, 1.0, 1.0], [1.0, -1.0, -1.0, -1.0]])
    held = strongest(margins, most)
    assert held.sum(1).tolist() == [most, most, 1]
    assert held[1, 0]


def test_forbidden_relations_never_hold() -> None:
    margins = np.array([[-np.inf, 0.5, -np.inf], [-np.inf] * 3])
    assert strongest(margins, 2).tolist() == [[False, True, False], [False] * 3]


def test_no_pairs_hold_no_relations() -> None:
    assert strongest(np.zeros((0, RELATIONS)), 2).shape == (0, RELATIONS)


@pytest.mark.parametrize("most", [1, 3, RELATIONS])
def test_a_balanced_shift_lets_just_as_many_hold_as_there_are(most: int) -> None:
    logits, _ = logits_and_labels()
    margins = AdaptiveThreshold().margins(logits).numpy()
    margins[3, 1] = -np.inf
    for gold in (1, 5, PAIRS * most - 2):
        shift = balanced_shift(margins, most, gold)
        assert strongest(margins + shift, most).sum() == gold


@pytest.mark.parametrize("gold", [0, PAIRS, 1000])
def test_where_no_shift_balances_there_is_none(gold: int) -> None:
    margins = AdaptiveThreshold().margins(logits_and_labels()[0]).numpy()
    assert balanced_shift(margins, 1, gold) == 0
    assert balanced_shift(margins[:0], 1, gold) == 0


def test_half_precision_loses_nothing_of_the_loss() -> None:
    logits = torch.tensor([[6.0, 0.0, 1.0, -2.0]], dtype=torch.float32)
    labels = torch.tensor([[False, False, False]])
    losses, gradients = [], []
    for dtype in (torch.float32, torch.bfloat16):
        given = logits.to(dtype).clone().requires_grad_()
        loss = AdaptiveThreshold().loss(given, labels).sum()
        loss.backward()
        losses.append(loss.item())
        gradients.append(given.grad.float())
    assert losses[1] == pytest.approx(losses[0])
    torch.testing.assert_close(gradients[1], gradients[0], rtol=0.01, atol=1e-6)
