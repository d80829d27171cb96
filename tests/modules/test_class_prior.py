"""The estimate of the priors equals plain loops, and finds the mixtures that were made."""

import math

import numpy as np
import pytest

from factloom.modules.class_prior import best_cut, estimate_priors, linear_classifier


def test_the_best_cut_equals_a_search_by_plain_loops() -> None:
    chance = np.random.default_rng(0)
    positive, everything = chance.normal(1, 1, 40), chance.normal(0, 1.5, 90)
    slack = math.sqrt(math.log(40) / 2 / 40) + math.sqrt(math.log(40) / 2 / 90)
    lowest, expected = math.inf, math.nan
    for cut in positive:
        of_positive = sum(score >= cut for score in positive) / 40
        of_all = sum(score >= cut for score in everything) / 90
        bound = (of_all + 1.01 * slack) / of_positive
        if bound < lowest:
            lowest, expected = bound, cut
    assert best_cut(positive, everything) == expected


def test_the_classifier_solves_the_weighted_least_squares_problem() -> None:
    chance = np.random.default_rng(1)
    features, positive = chance.normal(size=(30, 4)), np.arange(30) < 6
    score = linear_classifier(features, positive)
    inputs = np.column_stack([(features - features.mean(0)) / features.std(0), np.ones(30)])
    # rows times the root of their weight, and the ridge as further rows with target 0
    root = np.sqrt(np.where(positive, 0.5 / 6, 0.5 / 24))[:, None]
    rows = np.vstack([inputs * root, math.sqrt(1e-3) * np.eye(5)])
    targets = np.append(np.where(positive, 1, -1) * root[:, 0], np.zeros(5))
    expected = inputs @ np.linalg.lstsq(rows, targets, rcond=None)[0]
    np.testing.assert_allclose(score(features), expected, rtol=1e-4)


@pytest.mark.parametrize("prior", [0.1, 0.3])
def test_the_prior_of_one_type_is_found(prior: float) -> None:
    chance = np.random.default_rng(2)
    truth = chance.random(4000) < prior
    features = chance.normal(size=(4000, 5)) + 3.5 * truth[:, None] * np.array([1, 0, 0, 0, 0])
    kinds = np.where(truth & (chance.random(4000) < 0.4), 0, -1)
    found = estimate_priors(features, kinds, np.arange(4000), types=1)
    np.testing.assert_allclose(found, [prior], rtol=0.15)


def test_types_that_are_mistaken_for_each_other_are_told_apart_in_number() -> None:
    """Names stand out; their types overlap, and the dictionary knows the first type better."""
    chance = np.random.default_rng(5)
    truth = chance.choice([-1, 0, 1, 2], size=12000, p=[0.7, 0.05, 0.15, 0.1])
    features = chance.normal(size=(12000, 4))
    features[:, 0] += 5 * (truth >= 0)
    for kind in range(3):
        features[:, 1 + kind] += 1.5 * (truth == kind)
    known = np.array([0.6, 0.2, 0.3])[truth]
    kinds = np.where((truth >= 0) & (chance.random(12000) < known), truth, -1)
    found = estimate_priors(features, kinds, np.arange(12000), types=3)
    np.testing.assert_allclose(found, [0.05, 0.15, 0.1], rtol=0.2)


def test_names_that_were_learned_by_heart_do_not_mislead() -> None:
    """A feature a name tells all labelled words from all others, but says nothing about them."""
    chance = np.random.default_rng(3)
    names = chance.integers(0, 40, 4000)
    truth = names < 12
    kinds = np.where(names < 6, 0, -1)
    spelled = np.eye(40)[names]
    features = np.column_stack([spelled, chance.normal(size=4000) + 4 * truth])
    found = estimate_priors(features, kinds, names, types=1)
    np.testing.assert_allclose(found, [12 / 40], rtol=0.2)


def test_too_few_names_give_no_more_than_their_own_part() -> None:
    chance = np.random.default_rng(4)
    kinds = np.where(np.arange(100) < 7, 0, -1)
    features, names = chance.normal(size=(100, 2)), np.zeros(100, np.int64)
    assert estimate_priors(features, kinds, names, types=2).tolist() == [0.07, 0.0]


def test_a_type_without_words_has_no_part() -> None:
    chance = np.random.default_rng(6)
    kinds = np.where(np.arange(200) < 40, 0, -1)
    features = chance.normal(size=(200, 2))
    found = estimate_priors(features, kinds, np.arange(200), types=2)
    assert found[0] >= 0.2
    assert found[1] == 0
