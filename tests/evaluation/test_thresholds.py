"""The threshold curve against counting anew at every threshold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.evaluation.thresholds import threshold_curve

scores = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])  # few, so that many are equal
judged = st.lists(st.tuples(scores, st.booleans()), max_size=30)


@given(data=judged, missed=st.integers(0, 5))
def test_every_point_equals_a_count_of_what_is_kept(
    data: list[tuple[float, bool]], missed: int
) -> None:
    gold = sum(correct for _, correct in data) + missed
    curve = threshold_curve([s for s, _ in data], [c for _, c in data], gold)
    assert curve.thresholds.tolist() == sorted({score for score, _ in data}, reverse=True)
    for index, threshold in enumerate(curve.thresholds):
        kept = [correct for score, correct in data if score >= threshold]
        precision = sum(kept) / len(kept)
        recall = sum(kept) / gold if gold else 0.0
        both = precision + recall
        assert curve.precision[index] == pytest.approx(precision)
        assert curve.recall[index] == pytest.approx(recall)
        assert curve.f1[index] == pytest.approx(2 * precision * recall / both if both else 0.0)


def test_the_best_threshold_has_the_highest_f1() -> None:
    curve = threshold_curve([0.9, 0.8, 0.7, 0.6], [True, True, False, False], gold=3)
    assert curve.thresholds[curve.best] == 0.8
    assert curve.f1[curve.best] == pytest.approx(0.8)
