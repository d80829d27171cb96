"""Temperature and calibration error, against grids and plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.errors import ModelError
from factloom.modules.calibration import (
    HIGHEST_TEMPERATURE,
    LOWEST_TEMPERATURE,
    expected_calibration_error,
    fit_line,
    fit_temperature,
    fit_temperature_of_decisions,
    reliability,
    scores_from_margins,
)

unit = st.floats(0, 1)
judged = st.lists(st.tuples(unit, st.booleans()), max_size=60)
margins_and_labels = st.lists(st.tuples(st.floats(-50, 50), st.booleans()), min_size=1, max_size=40)


def simulated(temperature: float, count: int = 200_000) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(7)
    margins = generator.normal(-1.0, 4.0, size=count)
    labels = generator.random(count) < 1 / (1 + np.exp(-margins / temperature))
    return margins, labels


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5, 8.0])
def test_the_temperature_of_simulated_data_is_recovered(temperature: float) -> None:
    assert fit_temperature(*simulated(temperature)) == pytest.approx(temperature, rel=0.03)


def test_float32_margins_fit_like_float64_ones() -> None:
    margins, labels = simulated(2.0, count=2_000)
    single = fit_temperature(margins.astype(np.float32), labels)
    assert single == pytest.approx(fit_temperature(margins, labels), rel=1e-4)


def negative_log_likelihood(margins: list[float], labels: list[bool], temperature: float) -> float:
    """The mean of log(1 + exp(-m / T)), m the margin, negated where the label is false."""
    total = 0.0
    for margin, label in zip(margins, labels, strict=True):
        signed = (margin if label else -margin) / temperature
        # on the side where exp cannot overflow
        total += (
            math.log1p(math.exp(-signed)) if signed > 0 else math.log1p(math.exp(signed)) - signed
        )
    return total / len(margins)


@given(data=margins_and_labels)
def test_no_temperature_on_a_fine_grid_is_more_likely(data: list[tuple[float, bool]]) -> None:
    margins, labels = (list(column) for column in zip(*data, strict=True))
    fitted = negative_log_likelihood(margins, labels, fit_temperature(margins, labels))
    grid = np.geomspace(LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, 300)
    best = min(negative_log_likelihood(margins, labels, temperature) for temperature in grid)
    assert fitted <= best + 1e-9


def test_separable_data_end_at_the_lowest_temperature() -> None:
    temperature = fit_temperature([-3.0, -1.0, 2.0, 5.0], [False, False, True, True])
    assert temperature == LOWEST_TEMPERATURE


def test_data_that_are_always_wrong_end_at_the_highest_temperature() -> None:
    temperature = fit_temperature([-3.0, 2.0], [True, False])
    assert temperature == HIGHEST_TEMPERATURE


@pytest.mark.parametrize("margins", [[], [0.0, 0.0], [-math.inf, math.inf]])
def test_margins_without_information_leave_the_scores_alone(margins: list[float]) -> None:
    assert fit_temperature(margins, [True] * len(margins)) == 1.0


def test_infinite_margins_do_not_disturb_the_fit() -> None:
    margins, labels = simulated(2.0, count=2_000)
    masked = np.append(margins, -np.inf)
    assert fit_temperature(masked, np.append(labels, False)) == fit_temperature(margins, labels)


def test_margins_that_are_not_numbers_are_an_error() -> None:
    with pytest.raises(ModelError, match="1 of the model's margins are not numbers"):
        fit_temperature([1.0, math.nan], [True, False])


def test_extreme_margins_give_scores_of_zero_and_one() -> None:
    with np.errstate(all="raise", under="ignore"):
        scores = scores_from_margins([-1e6, -math.inf, 0.0, math.inf, 1e6], temperature=0.1)
    assert scores.tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]


def naive_calibration_error(data: list[tuple[float, bool]], bins: int) -> float:
    error = 0.0
    for index in range(bins):
        low, high = index / bins, (index + 1) / bins
        inside = [
            (score, correct)
            for score, correct in data
            if low < score <= high or (index == 0 and score == 0)
        ]
        if inside:
            confidence = sum(score for score, _ in inside) / len(inside)
            accuracy = sum(correct for _, correct in inside) / len(inside)
            error += len(inside) / len(data) * abs(accuracy - confidence)
    return error


@given(data=judged, bins=st.sampled_from([1, 2, 4, 8]))  # edges that are exact in binary
def test_calibration_error_equals_a_naive_loop(data: list[tuple[float, bool]], bins: int) -> None:
    scores, correct = [score for score, _ in data], [right for _, right in data]
    found = expected_calibration_error(scores, correct, bins)
    assert found == pytest.approx(naive_calibration_error(data, bins), abs=1e-12)


def test_calibration_error_by_hand() -> None:
    # bin (0.5, 0.75]: 0.6 promised, 1 of 1 right; bin (0.75, 1]: 0.9 promised, 2 of 3 right
    scores, correct = [0.6, 0.8, 0.9, 1.0], [True, False, True, True]
    expected = 1 / 4 * abs(1 - 0.6) + 3 / 4 * abs(2 / 3 - 0.9)
    assert expected_calibration_error(scores, correct, bins=4) == pytest.approx(expected)


def test_honest_scores_have_a_small_error_and_overconfident_ones_a_large_one() -> None:
    margins, labels = simulated(2.0)
    honest = expected_calibration_error(scores_from_margins(margins, 2.0), labels)
    overconfident = expected_calibration_error(scores_from_margins(margins, 0.5), labels)
    assert honest < 0.01 < 0.05 < overconfident


def test_a_score_on_an_edge_belongs_to_the_bin_below_it() -> None:
    bins = reliability([0.0, 0.5, 1.0], [False, True, True], bins=2)
    assert bins.counts.tolist() == [2, 1]
    assert bins.confidence.tolist() == [0.25, 1.0]
    assert bins.accuracy.tolist() == [0.5, 1.0]


def test_no_scores_have_no_calibration_error() -> None:
    assert expected_calibration_error([], []) == 0.0


def test_decisions_are_fitted_with_one_more_right_and_one_more_wrong_one() -> None:
    margins, right = [0.5, 2.0, 3.5], [True, True, False]
    expected = fit_temperature([*margins, 2.0, 2.0], [*right, True, False])
    assert fit_temperature_of_decisions(margins, right) == pytest.approx(expected)


def test_a_few_decisions_without_a_mistake_are_no_certainty() -> None:
    few = scores_from_margins(4.0, fit_temperature_of_decisions([4.0] * 3, [True] * 3))
    many = scores_from_margins(4.0, fit_temperature_of_decisions([4.0] * 98, [True] * 98))
    assert float(few) == pytest.approx(4 / 5)  # the rule of succession
    assert float(many) == pytest.approx(99 / 100)


def test_without_decisions_there_is_nothing_to_fit() -> None:
    assert fit_temperature_of_decisions([], []) == 1.0


def test_a_line_is_where_the_loss_is_lowest() -> None:
    chance = np.random.default_rng(3)
    odds = chance.normal(0, 3, 60)
    right = chance.random(60) < 1 / (1 + np.exp(-(0.5 * odds - 0.7)))
    weights = chance.random(60) * 2

    def loss(slope: float, offset: float) -> float:
        promised = 1 / (1 + np.exp(-(slope * odds + offset)))
        said = np.where(right, promised, 1 - promised)
        return float(-(weights * np.log(said)).sum() + ((slope - 1) ** 2 + offset**2) / 2)

    slope, offset = fit_line(odds, right, weights)
    tried = [loss(slope + a, offset + b) for a in (-0.01, 0, 0.01) for b in (-0.01, 0, 0.01)]
    assert min(tried) == tried[4]
    assert fit_line([], []) == (1.0, 0.0)
