"""Precision, recall and F1 as the least score that counts is raised."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ThresholdCurve:
    """One point for each distinct score: what is kept when that score is the least that counts.

    Predictions that a model did not make are not there, so nothing is known about thresholds
    below the model's own rule.
    """

    thresholds: Floats  # (points,) falling
    kept: Floats  # (points,) how many predictions have that score or more
    correct: Floats  # (points,) how many of these are correct
    precision: Floats  # (points,)
    recall: Floats  # (points,)
    f1: Floats  # (points,)

    @property
    def best(self) -> int:
        """The point with the highest F1, of equal ones that with the highest threshold."""
        return int(np.argmax(self.f1))


def threshold_curve(scores: ArrayLike, correct: ArrayLike, gold: int) -> ThresholdCurve:
    """The curve over all distinct scores, for `gold` relations to be found."""
    scores = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    correct_so_far = np.cumsum(np.asarray(correct, dtype=np.float64)[order])
    # Equal scores are kept or dropped together: only the last of them is a point.
    last_of_equal = np.flatnonzero(np.diff(falling, append=-np.inf) != 0)
    kept = (last_of_equal + 1).astype(np.float64)
    right = correct_so_far[last_of_equal]
    # 2 p r / (p + r) with p = right / kept and r = right / gold
    return ThresholdCurve(
        thresholds=falling[last_of_equal],
        kept=kept,
        correct=right,
        precision=right / kept,
        recall=right / gold if gold else np.zeros_like(right),
        f1=2 * right / (kept + gold),
    )
