"""The risks equal plain loops in float64, and keep the promises of their papers by enumeration."""

from collections.abc import Callable
from itertools import product

import pytest
import torch
from torch import Tensor

from factloom.modules.risks import (
    Losses,
    bagged,
    labelled_negatives,
    non_negative,
    other_types,
    out_of_bag_mean,
    unbiased,
    unlabelled_as_negative,
    word_losses,
)

WORDS, TYPES, BAGS = 7, 3, 4
EXPONENTS = [0.0, 0.3, 1.0]


def scores(seed: int = 0, *shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 3 * torch.randn(*(shape or (WORDS, TYPES)), generator=generator, dtype=torch.float64)


def marks(seed: int = 1, *shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*(shape or (WORDS, TYPES)), generator=generator) < 0.4


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


SHARE, PRIOR, WEIGHT = numbers(0.2, 0.1, 0.3), numbers(0.3, 0.2, 0.5), numbers(0.4, 1.0, 0.7)


def mean_of(values: list[float], chosen: list[bool], share: float) -> float:
    """What a mean over chosen words is, if they are `share` of all."""
    total = 0.0
    for value, taken in zip(values, chosen, strict=True):
        if taken:
            total += value / share
    return total / len(values)


# --- losses ----------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [0.1, 0.5, 1.0])
def test_losses_are_those_of_the_formula(q: float) -> None:
    g = scores()
    p = 1 / (1 + torch.exp(-g))
    found = word_losses(g, q)
    torch.testing.assert_close(found.positive, (1 - p**q) / q)
    torch.testing.assert_close(found.negative, (1 - (1 - p) ** q) / q)


def test_the_losses_go_from_the_cross_entropy_to_the_absolute_error() -> None:
    g = scores()
    p = 1 / (1 + torch.exp(-g))
    entropy, nearly, absolute = (word_losses(g, q) for q in (0.0, 1e-7, 1.0))
    torch.testing.assert_close(entropy.positive, -torch.log(p))
    torch.testing.assert_close(entropy.negative, -torch.log(1 - p))
    torch.testing.assert_close(nearly.positive, entropy.positive, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(absolute.positive, 1 - p)
    torch.testing.assert_close(absolute.positive + absolute.negative, torch.ones_like(g))


def test_losses_and_gradients_stay_finite_far_out() -> None:
    g = torch.tensor([[-300.0, 300.0]], requires_grad=True)
    for q in EXPONENTS:
        losses = word_losses(g, q)
        total = (losses.positive + losses.negative).sum()
        assert torch.isfinite(total)
        assert torch.isfinite(torch.autograd.grad(total, g)[0]).all()


# --- plain loops -----------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_risks_equal_plain_loops(exponent: float) -> None:
    losses, labelled, known = (
        word_losses(scores(), exponent),
        marks(),
        marks(2, WORDS) & ~marks().any(1),
    )
    as_negative, with_negatives, without_bias, bounded = [], [], [], []
    for t in range(TYPES):
        plus, minus = losses.positive[:, t].tolist(), losses.negative[:, t].tolist()
        chosen, share, pi = labelled[:, t].tolist(), float(SHARE[t]), float(PRIOR[t])
        total = 0.0
        for word in range(WORDS):
            total += plus[word] if chosen[word] else minus[word]
        as_negative.append(total / WORDS)
        positive, lost = mean_of(plus, chosen, share), mean_of(minus, chosen, share)
        negative = mean_of(minus, known.tolist(), 0.25)
        with_negatives.append(pi * positive + (1 - pi) * negative)
        everywhere = sum(minus) / WORDS
        without_bias.append(pi * positive + everywhere - pi * lost)
        bounded.append(float(WEIGHT[t]) * positive + max(0.0, everywhere - pi * lost))
    expected = [numbers(*values) for values in (as_negative, with_negatives, without_bias, bounded)]
    found = [
        unlabelled_as_negative(losses, labelled),
        labelled_negatives(losses, labelled, known, SHARE, numbers(0.25), PRIOR),
        unbiased(losses, labelled, SHARE, PRIOR),
        non_negative(losses, labelled, SHARE, PRIOR, WEIGHT),
    ]
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_bagging_equals_plain_loops() -> None:
    losses, labelled = word_losses(scores(3, WORDS, TYPES, BAGS), 0.5), marks()
    drawn = torch.randint(0, 3, (WORDS, BAGS), generator=torch.Generator().manual_seed(4))
    expected = []
    for t in range(TYPES):
        total = 0.0
        for word, bag in product(range(WORDS), range(BAGS)):
            if labelled[word, t]:
                total += float(losses.positive[word, t, bag])
            else:
                total += int(drawn[word, bag]) * float(losses.negative[word, t, bag])
        expected.append(total / WORDS / BAGS)
    torch.testing.assert_close(bagged(losses, labelled, drawn), numbers(*expected))


def test_out_of_bag_mean_equals_plain_loops() -> None:
    given, drawn = scores(5, WORDS, TYPES, BAGS), marks(6, WORDS, BAGS).long() * 2
    drawn[0] = 1  # a word that every bag has drawn
    drawn[1] = 0
    found = out_of_bag_mean(given, drawn)
    for word, t in product(range(WORDS), range(TYPES)):
        values = [float(given[word, t, bag]) for bag in range(BAGS) if drawn[word, bag] == 0]
        values = values or [float(given[word, t, bag]) for bag in range(BAGS)]
        assert float(found[word, t]) == pytest.approx(sum(values) / len(values), rel=1e-12)


# --- algebra ---------------------------------------------------------------------------------


def supervised(losses: Losses, truth: Tensor) -> Tensor:
    """pi R_p+ + (1 - pi) R_n- with the true means and pi = the part of positives."""
    risks = []
    for t in range(truth.shape[1]):
        positives, negatives = truth[:, t], ~truth[:, t]
        pi = positives.double().mean()
        plus, minus = losses.positive[positives, t].mean(), losses.negative[negatives, t].mean()
        risks.append(pi * plus + (1 - pi) * minus)
    return torch.stack(risks)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_with_all_positives_labelled_the_unbiased_risk_is_the_supervised_one(
    exponent: float,
) -> None:
    losses, truth = word_losses(scores(), exponent), marks()
    share = truth.double().mean(0)
    expected = supervised(losses, truth)
    torch.testing.assert_close(unbiased(losses, truth, share, share), expected)
    torch.testing.assert_close(unlabelled_as_negative(losses, truth), expected)
    torch.testing.assert_close(non_negative(losses, truth, share, share, share), expected)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_the_unbiased_risk_is_the_supervised_one_in_expectation(exponent: float) -> None:
    """Over every way in which a coin a positive decides whether the dictionary has it."""
    losses, truth, known = word_losses(scores(7, WORDS, 1), exponent), marks(8, WORDS, 1), 0.3
    positives = truth[:, 0].nonzero().flatten().tolist()
    prior = truth.double().mean(0)
    expectation, biased = numbers(0.0), numbers(0.0)
    for coins in product([True, False], repeat=len(positives)):
        labelled = torch.zeros_like(truth)
        probability = 1.0
        for word, coin in zip(positives, coins, strict=True):
            labelled[word, 0] = coin
            probability *= known if coin else 1 - known
        expectation += probability * unbiased(losses, labelled, known * prior, prior)
        biased += probability * unlabelled_as_negative(losses, labelled)
    torch.testing.assert_close(expectation, supervised(losses, truth))
    assert not torch.allclose(biased, supervised(losses, truth))


def test_absolute_losses_lose_on_one_side_what_they_gain_on_the_other() -> None:
    losses, labelled = word_losses(scores(), 1.0), marks()
    share = labelled.double().mean(0)
    positive = torch.stack([losses.positive[labelled[:, t], t].mean() for t in range(TYPES)])
    everywhere = losses.negative.mean(0)
    expected = PRIOR * positive + everywhere - PRIOR * (1 - positive)
    torch.testing.assert_close(unbiased(losses, labelled, share, PRIOR), expected)


def test_risks_of_batches_add_up_to_the_risk_of_all() -> None:
    g, labelled = scores(), marks()
    sizes = (3, 4)
    total = numbers(0.0, 0.0, 0.0)
    for size, part, known in zip(sizes, g.split(sizes), labelled.split(sizes), strict=True):
        total += size / WORDS * unbiased(word_losses(part, 0.0), known, SHARE, PRIOR)
    torch.testing.assert_close(total, unbiased(word_losses(g, 0.0), labelled, SHARE, PRIOR))


# --- the gradient of the non-negative risk ---------------------------------------------------


def gradient(risk: Callable[[Tensor], Tensor], g: Tensor) -> Tensor:
    """By central differences of the sum over types."""
    found, step = torch.zeros_like(g), 1e-6
    for index in product(*(range(size) for size in g.shape)):
        high, low = g.clone(), g.clone()
        high[index] += step
        low[index] -= step
        found[index] = (risk(high).sum() - risk(low).sum()) / (2 * step)
    return found


def negative_part(g: Tensor, labelled: Tensor) -> Tensor:
    losses = word_losses(g, 1.0)
    known = (losses.negative * labelled).sum(0) / WORDS / SHARE
    return losses.negative.mean(0) - PRIOR * known


def test_the_gradient_steps_back_where_the_negative_part_is_below_the_tolerance() -> None:
    g, labelled = scores(), marks()
    labelled[0] = True
    g[labelled], g[:, 0] = 4.0, 3.0  # the first type has a positive part, others a negative one
    below = negative_part(g, labelled) < -0.05
    assert below.any()
    assert not below.all()

    def followed(g: Tensor) -> Tensor:
        losses, part = word_losses(g, 1.0), negative_part(g, labelled)
        positive = WEIGHT * (losses.positive * labelled).sum(0) / WORDS / SHARE
        return torch.where(below, -0.5 * part, positive + part)

    g.requires_grad_(True)
    options = {"tolerance": 0.05, "step_back": 0.5}
    losses = word_losses(g, 1.0)
    non_negative(losses, labelled, SHARE, PRIOR, WEIGHT, **options).sum().backward()
    assert g.grad is not None
    torch.testing.assert_close(g.grad, gradient(followed, g.detach()), rtol=1e-5, atol=1e-8)


# --- other types -----------------------------------------------------------------------------


def test_words_marked_as_another_type_are_negatives() -> None:
    found = word_losses(scores(), 0.3)
    kinds = [0, 2, -1, 1, 0, -1, 2]  # -1: not marked
    labelled = torch.tensor(kinds)[:, None] == torch.arange(TYPES)
    values = other_types(found, labelled, SHARE)
    for kind in range(TYPES):
        others = [other not in (kind, -1) for other in kinds]
        share = sum(SHARE[other].item() for other in range(TYPES) if other != kind)
        expected = mean_of(found.negative[:, kind].tolist(), others, share)
        assert values[kind].item() == pytest.approx(expected, rel=1e-12)


def test_a_single_type_has_no_others() -> None:
    found = word_losses(scores(0, WORDS, 1), 0.3)
    assert other_types(found, marks(1, WORDS, 1), numbers(0.2)).tolist() == [0.0]
