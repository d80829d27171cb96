"""Scores that mean what they say: a temperature for margins, and how far scores are off.

A model gives each candidate a margin, its logit less that of the threshold class. The score

    p = sigmoid(margin / T)

keeps the order of the candidates and its decision (margin > 0) for every temperature T > 0, so T
is free to make the scores honest: of the relations scored 0.8, eight in ten should be right.

Reference: Guo et al. 2017, "On Calibration of Modern Neural Networks"
(https://proceedings.mlr.press/v70/guo17a.html).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from factloom.errors import ModelError

# Data that a threshold at 0 separates without error would drive T to 0 (or, all wrong, to
# infinity): these bounds keep scores away from a certainty that the data cannot support.
LOWEST_TEMPERATURE = 0.05
HIGHEST_TEMPERATURE = 20.0
_LEAST_SLOPE = 0.05  # the order of scores is kept

Floats = NDArray[np.float64]


def scores_from_margins(margins: ArrayLike, temperature: float) -> Floats:
    """`sigmoid(margin / temperature)`."""
    with np.errstate(over="ignore"):  # exp of a huge number is infinite, and the score 0: right
        return 1 / (1 + np.exp(np.asarray(margins, dtype=np.float64) / -temperature))


def log_odds(logarithm: float) -> float:
    """log(p / (1 - p)) from log p, which rounding may bring to 0: the margin of a probability."""
    return logarithm - math.log(-math.expm1(min(logarithm, -1e-12)))


def fit_temperature(margins: ArrayLike, labels: ArrayLike) -> float:
    """The temperature under which the labels are most likely; 1 where there is nothing to fit.

    The negative log likelihood is convex in the sharpness 1 / T, so its slope rises and has at
    most one root. Newton's method finds it; a step out of the bracket becomes a bisection.
    """
    agreement = _agreement(margins, labels)
    agreement = agreement[np.isfinite(agreement)]  # 0 or 1 at any temperature: no information
    if not np.any(agreement):
        return 1.0
    low, high = 1 / HIGHEST_TEMPERATURE, 1 / LOWEST_TEMPERATURE
    if _derivatives(agreement, low)[0] >= 0:
        return HIGHEST_TEMPERATURE
    if _derivatives(agreement, high)[0] <= 0:
        return LOWEST_TEMPERATURE
    sharpness = 1.0
    for _ in range(100):
        slope, curvature = _derivatives(agreement, sharpness)
        low, high = (low, sharpness) if slope > 0 else (sharpness, high)
        newton = sharpness - slope / curvature if curvature > 0 else math.inf
        following = newton if low <= newton <= high else math.sqrt(low * high)
        if abs(following - sharpness) <= 1e-9 * sharpness:
            break
        sharpness = following
    return 1 / sharpness


def fit_temperature_of_decisions(margins: ArrayLike, right: ArrayLike) -> float:
    """The temperature for the scores of decisions that were made, by which of them are right.

    One more right and one more wrong decision at the mean margin are imagined (rule of
    succession): a few dozen decisions without a mistake are no proof of certainty.
    """
    made, outcomes = np.asarray(margins, dtype=np.float64), np.asarray(right, dtype=bool)
    if not len(made):
        return 1.0
    imagined = np.append(made, [made.mean()] * 2)
    return fit_temperature(imagined, np.append(outcomes, [True, False]))


def calibrate_decisions(margins: ArrayLike, right: ArrayLike) -> dict[str, float]:
    """The temperature for decisions that were made, and how honest the scores are with it."""
    temperature = fit_temperature_of_decisions(margins, right)
    scores = scores_from_margins(margins, temperature)
    return {
        "temperature": temperature,
        "expected_calibration_error": expected_calibration_error(scores, right),
    }


def fit_line(
    log_odds: ArrayLike, right: ArrayLike, weights: ArrayLike | None = None
) -> tuple[float, float]:
    """Slope a and offset b under which sigmoid(a x + b) tells best which decisions are right.

    Minimised by Newton's method: sum w_i -log p_i + (a - 1)^2 / 2 + b^2 / 2. What the squares cost
    is about a decision each: few decisions leave scores as they are.
    """
    odds = np.asarray(log_odds, dtype=np.float64)
    outcomes = np.asarray(right, dtype=np.float64)
    counts = np.ones_like(odds) if weights is None else np.asarray(weights, dtype=np.float64)
    columns = np.stack([odds, np.ones_like(odds)], axis=1)  # (decisions, 2)
    line = np.array([1.0, 0.0])
    for _ in range(100):
        probable = scores_from_margins(columns @ line, 1.0)
        gradient = columns.T @ (counts * (probable - outcomes)) + line - [1.0, 0.0]
        spread = counts * probable * (1 - probable)
        step = np.linalg.solve(columns.T @ (columns * spread[:, None]) + np.eye(2), gradient)
        line = line - step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return max(float(line[0]), _LEAST_SLOPE), float(line[1])


def _agreement(margins: ArrayLike, labels: ArrayLike) -> Floats:
    """The margin as it speaks for the label: negated where the label is false."""
    margins = np.asarray(margins, dtype=np.float64).ravel()
    if np.isnan(margins).any():
        raise ModelError("margin-not-a-number", count=int(np.isnan(margins).sum()))
    return np.where(np.asarray(labels, dtype=bool).ravel(), margins, -margins)


def _derivatives(agreement: Floats, sharpness: float) -> tuple[float, float]:
    """Slope and curvature of the negative log likelihood over the sharpness 1 / T."""
    wrong = scores_from_margins(-agreement * sharpness, 1.0)  # probability of the other label
    slope = -(agreement * wrong).mean()
    curvature = (agreement**2 * wrong * (1 - wrong)).mean()
    return float(slope), float(curvature)


@dataclass(frozen=True, slots=True)
class Reliability:
    """Scores in bins of equal width: what they promise, and what came true."""

    edges: Floats  # (bins + 1,)
    counts: NDArray[np.int64]  # (bins,)
    confidence: Floats  # (bins,) mean score; 0 in an empty bin
    accuracy: Floats  # (bins,) share that is correct; 0 in an empty bin

    @property
    def expected_calibration_error(self) -> float:
        """`sum over bins of n_b / n |accuracy_b - confidence_b|`; 0 without scores."""
        total = self.counts.sum()
        if total == 0:
            return 0.0
        return float((self.counts * np.abs(self.accuracy - self.confidence)).sum() / total)


def reliability(scores: ArrayLike, correct: ArrayLike, bins: int = 10) -> Reliability:
    """Sort scores into the bins ((b - 1) / bins, b / bins]; a score of 0 joins the first."""
    scores = np.asarray(scores, dtype=np.float64).ravel()
    correct = np.asarray(correct, dtype=np.float64).ravel()
    edges = np.linspace(0.0, 1.0, bins + 1)
    index = np.searchsorted(edges[1:-1], scores, side="left")  # (scores,)
    counts = np.bincount(index, minlength=bins)
    filled = np.maximum(counts, 1)  # an empty bin divides 0 by 1
    confidence = np.bincount(index, weights=scores, minlength=bins) / filled
    accuracy = np.bincount(index, weights=correct, minlength=bins) / filled
    return Reliability(edges, counts, confidence, accuracy)


def expected_calibration_error(scores: ArrayLike, correct: ArrayLike, bins: int = 10) -> float:
    """How far, on average, a score is from the share of correct ones around it."""
    return reliability(scores, correct, bins).expected_calibration_error
