"""How sure a score is: intervals by resampling documents.

Reference: Efron 1979, "Bootstrap Methods: Another Look at the Jackknife". The documents are drawn
with replacement, as many as there are, again and again; the middle 95 % of the measure over these
draws are its interval. Relations of one document are not independent, so documents are drawn and
not relations. A measure needs only each document's counts, so a draw is a vector of how often each
document was drawn, and all draws together are one matrix product.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloom.evaluation.relations import IGNORING_SMOOTHING, Counts, RelationReport

Floats = NDArray[np.float64]
Interval = tuple[float, float]

LEVEL = 0.95
LARGEST_DRAW = 4_000_000  # numbers held at a time: draws x documents


@dataclass(frozen=True, slots=True)
class Intervals:
    """95 % intervals; `ign_f1` is `None` where no train facts were given."""

    f1: Interval
    ign_f1: Interval | None


def intervals(report: RelationReport, samples: int = 2000, seed: int = 0) -> Intervals | None:
    """Intervals of F1 and Ign F1; `None` where there is nothing to draw."""
    if samples < 1 or not report.per_document:
        return None
    totals = _draw_totals(_counts(report), samples, seed)
    correct, predicted, gold, seen = totals.T  # (samples,) each
    recall = _divide(correct, gold)
    f1 = _harmonic_mean(_divide(correct, predicted), recall)
    if not report.train_facts_given:
        return Intervals(_middle(f1), None)
    ignoring_precision = (correct - seen) / (predicted - seen + IGNORING_SMOOTHING)
    return Intervals(_middle(f1), _middle(_harmonic_mean(ignoring_precision, recall)))


def f1_interval(
    per_document: Iterable[Counts], samples: int = 2000, seed: int = 0
) -> Interval | None:
    """The interval of F1 over documents with these counts; `None` where there are none."""
    rows = [(counts.correct, counts.predicted, counts.gold) for counts in per_document]
    if samples < 1 or not rows:
        return None
    correct, predicted, gold = _draw_totals(np.array(rows, dtype=np.float64), samples, seed).T
    return _middle(_harmonic_mean(_divide(correct, predicted), _divide(correct, gold)))


def _counts(report: RelationReport) -> Floats:
    rows = [
        (
            counts.relations.correct,
            counts.relations.predicted,
            counts.relations.gold,
            counts.seen,
        )
        for counts in report.per_document.values()
    ]
    return np.array(rows, dtype=np.float64)  # (documents, 4)


def _draw_totals(counts: Floats, samples: int, seed: int) -> Floats:
    """The summed counts of each draw."""
    documents = len(counts)
    generator = np.random.default_rng(seed)
    even = np.full(documents, 1 / documents)
    at_a_time = max(1, LARGEST_DRAW // documents)
    totals = [
        generator.multinomial(documents, even, size=min(at_a_time, samples - start)) @ counts
        for start in range(0, samples, at_a_time)
    ]
    return np.concatenate(totals)  # (samples, counts)


def _divide(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient, 0 where the denominator is 0 (its numerator then is 0 too)."""
    return numerator / np.where(denominator > 0, denominator, 1.0)


def _harmonic_mean(precision: Floats, recall: Floats) -> Floats:
    return _divide(2 * precision * recall, precision + recall)


def _middle(values: Floats) -> Interval:
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(values, (tail, 1 - tail))
    return float(low), float(high)
