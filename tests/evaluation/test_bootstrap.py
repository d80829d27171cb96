"""Intervals by resampling, against a plain loop over draws and documents."""

import numpy as np
import pytest

from factloom.document import Document
from factloom.evaluation import bootstrap
from factloom.evaluation.bootstrap import Interval, f1_interval, ignoring_f1_interval
from factloom.evaluation.relations import Counts, DocumentCounts, evaluate

Rows = list[tuple[int, int, int, int]]  # a document: correct, predicted, gold, seen


def intervals(rows: Rows, samples: int, seed: int = 0) -> tuple[Interval | None, Interval | None]:
    """Of F1 and of Ign F1."""
    documents = [DocumentCounts(Counts(*row[:3]), row[3]) for row in rows]
    return (
        f1_interval((document.relations for document in documents), samples, seed),
        ignoring_f1_interval(documents, samples, seed),
    )


def random_rows(documents: int, seed: int = 5) -> Rows:
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(documents):
        predicted, gold = (int(number) for number in generator.integers(0, 12, size=2))
        correct = int(generator.integers(0, min(predicted, gold) + 1))
        rows.append((correct, predicted, gold, int(generator.integers(0, correct + 1))))
    return rows


def naive(rows: Rows, samples: int, seed: int) -> list[list[float]]:
    generator = np.random.default_rng(seed)
    measured: list[list[float]] = [[], []]
    for _ in range(samples):
        drawn = generator.multinomial(len(rows), [1 / len(rows)] * len(rows))
        correct = predicted = gold = seen = 0
        for row, times in zip(rows, drawn, strict=True):
            for _ in range(times):
                correct += row[0]
                predicted += row[1]
                gold += row[2]
                seen += row[3]
        recall = correct / gold if gold else 0.0
        for values, precision in (
            (measured[0], correct / predicted if predicted else 0.0),
            (measured[1], (correct - seen) / (predicted - seen + 1e-5)),
        ):
            both = precision + recall
            values.append(2 * precision * recall / both if both else 0.0)
    return [[float(np.quantile(values, q)) for q in (0.025, 0.975)] for values in measured]


@pytest.mark.parametrize("documents", [1, 3, 40])
def test_intervals_equal_a_naive_loop(documents: int) -> None:
    rows = random_rows(documents)
    found = intervals(rows, samples=200, seed=3)
    for interval, expected in zip(found, naive(rows, samples=200, seed=3), strict=True):
        assert interval == pytest.approx(expected, abs=1e-12)


def test_drawing_in_parts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = random_rows(20)
    at_once = intervals(rows, samples=100, seed=1)
    monkeypatch.setattr(bootstrap, "LARGEST_DRAW", 20 * 7)
    assert intervals(rows, samples=100, seed=1) == at_once


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    rows = random_rows(40)
    assert intervals(rows, 100, seed=1) == intervals(rows, 100, seed=1)
    assert intervals(rows, 100, seed=1) != intervals(rows, 100, seed=2)


def test_the_interval_holds_the_measure_and_narrows_with_more_documents() -> None:
    widths = []
    for rows in (random_rows(20), random_rows(2000)):
        interval, _ = intervals(rows, samples=500)
        assert interval is not None
        assert interval[0] <= sum((Counts(*row[:3]) for row in rows), Counts()).f1 <= interval[1]
        widths.append(interval[1] - interval[0])
    assert widths[1] < widths[0] / 5


def test_nothing_to_draw_gives_no_interval() -> None:
    assert intervals([], samples=10) == (None, None)
    assert intervals(random_rows(3), samples=0) == (None, None)


def test_no_predictions_at_all_give_the_interval_zero(ada: Document) -> None:
    documents = evaluate([ada], [], frozenset()).per_document.values()
    assert f1_interval([document.relations for document in documents], samples=10) == (0.0, 0.0)
    assert ignoring_f1_interval(documents, samples=10) == (0.0, 0.0)
