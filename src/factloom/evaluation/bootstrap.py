"""How sure a score is: intervals by resampling documents.

Reference: Efron 1979, "Bootstrap Methods: Another Look at the Jackknife". The documents are drawn
with replacement, as many as there are, again and again; the middle 95 % of the measure over these
draws are its interval. Relations of one document are not independent, so documents are drawn and
not relations. A measure needs only each document's counts, so a draw is a vector of how often each
document was drawn, and all draws together are one matrix product.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from factloom.evaluation.relations import IGNORING_SMOOTHING, Counts, DocumentCounts

Floats = NDArray[np.float64]
Interval = tuple[float, float]

LEVEL = 0.95
LARGEST_DRAW = 4_000_000  # numbers held at a time: draws x documents


def f1_interval(
    per_document: Iterable[Counts], samples: int = 2000, seed: int = 0
) -> Interval | None:
    """The interval of F1 over documents with these counts; `None` where nothing can be drawn."""
    rows = [(counts.correct, counts.predicted, counts.gold) for counts in per_document]
    if samples < 1 or not rows:
        return None
    correct, predicted, gold = _draw_totals(np.array(rows, dtype=np.float64), samples, seed).T
    return _middle(_harmonic_mean(_divide(correct, predicted), _divide(correct, gold)))


def mean_interval(
    per_document: Iterable[tuple[float, int]], samples: int = 2000, seed: int = 0
) -> Interval | None:
    """The interval of a mean over what documents have: of each, the sum and how many it has."""
    rows = list(per_document)
    if samples < 1 or not any(count for _, count in rows):
        return None
    total, count = _draw_totals(np.array(rows, dtype=np.float64), samples, seed).T
    return _middle(_divide(total, count))


def ignoring_f1_interval(
    per_document: Iterable[DocumentCounts], samples: int = 2000, seed: int = 0
) -> Interval | None:
    """The interval of Ign F1, which leaves correct predictions out that training has shown."""
    rows = [
        (one.relations.correct, one.relations.predicted, one.relations.gold, one.seen)
        for one in per_document
    ]
    if samples < 1 or not rows:
        return None
    counts = np.array(rows, dtype=np.float64)  # (documents, 4)
    correct, predicted, gold, seen = _draw_totals(counts, samples, seed).T  # (samples,) each
    precision = (correct - seen) / (predicted - seen + IGNORING_SMOOTHING)
    return _middle(_harmonic_mean(precision, _divide(correct, gold)))


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
