"""Intervals by resampling, against a plain loop over draws and documents."""

import numpy as np
import pytest

from factloom.document import Document
from factloom.evaluation import bootstrap
from factloom.evaluation.bootstrap import intervals
from factloom.evaluation.relations import Counts, DocumentCounts, RelationReport, evaluate


def report_of(rows: list[tuple[int, int, int, int]], train_facts: bool = True) -> RelationReport:
    """A report that holds only what the bootstrap needs: (correct, predicted, gold, seen)."""
    per_document = {
        f"d{index}": DocumentCounts(Counts(correct, predicted, gold), seen)
        for index, (correct, predicted, gold, seen) in enumerate(rows)
    }
    nothing = Counts()
    return RelationReport(
        documents=len(rows),
        relations=sum((counts.relations for counts in per_document.values()), nothing),
        intra=nothing,
        inter=nothing,
        evidence=nothing,
        inferable=nothing,
        per_pattern={},
        per_relation={},
        per_document=per_document,
        judgements=(),
        train_facts_given=train_facts,
    )


def random_rows(documents: int, seed: int = 5) -> list[tuple[int, int, int, int]]:
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(documents):
        predicted, gold = (int(number) for number in generator.integers(0, 12, size=2))
        correct = int(generator.integers(0, min(predicted, gold) + 1))
        rows.append((correct, predicted, gold, int(generator.integers(0, correct + 1))))
    return rows


def naive(rows: list[tuple[int, int, int, int]], samples: int, seed: int) -> list[list[float]]:
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
    found = intervals(report_of(rows), samples=200, seed=3)
    assert found is not None
    f1, ign_f1 = naive(rows, samples=200, seed=3)
    assert found.f1 == pytest.approx(f1, abs=1e-12)
    assert found.ign_f1 == pytest.approx(ign_f1, abs=1e-12)


def test_drawing_in_parts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(random_rows(20))
    at_once = intervals(report, samples=100, seed=1)
    monkeypatch.setattr(bootstrap, "LARGEST_DRAW", 20 * 7)
    assert intervals(report, samples=100, seed=1) == at_once


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    report = report_of(random_rows(40))
    assert intervals(report, 100, seed=1) == intervals(report, 100, seed=1)
    assert intervals(report, 100, seed=1) != intervals(report, 100, seed=2)


def test_the_interval_holds_the_measure_and_narrows_with_more_documents() -> None:
    few, many = report_of(random_rows(20)), report_of(random_rows(2000))
    widths = []
    for report in (few, many):
        found = intervals(report, samples=500)
        assert found is not None
        assert found.f1[0] <= report.f1 <= found.f1[1]
        widths.append(found.f1[1] - found.f1[0])
    assert widths[1] < widths[0] / 5


def test_without_train_facts_there_is_no_ign_interval(ada: Document) -> None:
    found = intervals(evaluate([ada], [ada]), samples=10)
    assert found is not None
    assert found.f1 == (1.0, 1.0)
    assert found.ign_f1 is None


def test_nothing_to_draw_gives_no_interval(ada: Document) -> None:
    assert intervals(evaluate([], []), samples=10) is None
    assert intervals(evaluate([ada], [ada]), samples=0) is None


def test_no_predictions_at_all_give_the_interval_zero(ada: Document) -> None:
    found = intervals(evaluate([ada], [], frozenset()), samples=10)
    assert found is not None
    assert found.f1 == (0.0, 0.0)
    assert found.ign_f1 == (0.0, 0.0)
