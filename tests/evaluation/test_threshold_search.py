"""The best thresholds against trying all of them."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document, Entity, Mention, Relation
from factloom.evaluation.relations import Counts, evaluate
from factloom.evaluation.threshold_search import (
    Scored,
    scored_relations,
    threshold_for_f1,
    threshold_for_precision,
    thresholds_for_f1,
    together,
)

scores = st.sampled_from([0.2, 0.5, 0.51, 0.9, 1.0])  # few, so that many are equal


@st.composite
def judged(draw: st.DrawFn, most: int = 12) -> Scored:
    pairs = draw(st.lists(st.tuples(scores, st.booleans()), max_size=most))
    missed = draw(st.integers(0, 4))
    return make([s for s, _ in pairs], [c for _, c in pairs], missed)


def make(found: list[float], correct: list[bool], missed: int) -> Scored:
    return Scored(
        np.array(found, dtype=float), np.array(correct, dtype=float), sum(correct) + missed
    )


def ways(scored: Scored) -> Iterator[Counts]:
    """What is left at every threshold that a score can be compared with."""
    for threshold in (0.0, 0.3, 0.505, 0.7, 0.95):
        kept = [c for s, c in zip(scored.scores, scored.correct, strict=True) if s >= threshold]
        yield Counts(int(sum(kept)), len(kept), scored.gold)
    # all of it below 1 can be left out
    kept = [c for s, c in zip(scored.scores, scored.correct, strict=True) if s >= 1.0]
    yield Counts(int(sum(kept)), len(kept), scored.gold)


@given(judged())
def test_no_threshold_has_a_higher_f1(scored: Scored) -> None:
    found = scored.counts(threshold_for_f1(scored))
    assert found.f1 == pytest.approx(max(counts.f1 for counts in ways(scored)))


@given(judged(), st.sampled_from([0.3, 0.5, 0.9]))
def test_no_threshold_with_the_precision_finds_more(scored: Scored, precision: float) -> None:
    found = scored.counts(threshold_for_precision(scored, precision))
    reaching = [counts for counts in ways(scored) if counts.precision >= precision]
    if reaching:
        assert found.precision >= precision
        assert found.correct == max(counts.correct for counts in reaching)
    else:
        assert found.precision == max(counts.precision for counts in ways(scored))


@given(st.lists(judged(most=6), min_size=1, max_size=3), st.tuples(*[st.integers(0, 3)] * 3))
def test_no_choice_of_thresholds_has_a_higher_f1_of_all(
    relations: list[Scored], others: tuple[int, int, int]
) -> None:
    correct, wrong, missed = others
    rest = Counts(correct, correct + wrong, correct + missed)
    named = {str(index): scored for index, scored in enumerate(relations)}
    chosen = thresholds_for_f1(named, rest)
    reached = sum((named[name].counts(chosen[name]) for name in named), rest)
    best = max(
        sum(choice, rest).f1 for choice in itertools.product(*(list(ways(s)) for s in relations))
    )
    assert reached.f1 == pytest.approx(best)


def test_a_threshold_lies_in_the_middle_and_is_a_short_number() -> None:
    scored = make([0.9123456, 0.6, 0.3123], [True, True, False], missed=0)
    assert threshold_for_f1(scored) == 0.46  # the middle is 0.45615
    near = make([0.7000002, 0.7000001], [True, False], missed=0)
    assert 0.7000001 < threshold_for_f1(near) <= 0.7000002


def test_nothing_is_left_out_where_everything_is_right_or_nothing_is_known() -> None:
    assert threshold_for_f1(make([0.6, 0.7], [True, True], missed=1)) == 0.0
    assert threshold_for_f1(make([], [], missed=1)) == 0.0
    assert threshold_for_precision(make([], [], missed=1), 0.9) == 0.0


def test_a_relation_that_is_always_wrong_is_left_out() -> None:
    wrong, right = make([0.8], [False], missed=0), make([0.7], [True], missed=0)
    chosen = thresholds_for_f1({"wrong": wrong, "right": right}, Counts())
    assert chosen["wrong"] > 0.8
    assert chosen["right"] == 0.0
    assert threshold_for_precision(wrong, 0.9) > 0.8


def document(*relations: Relation) -> Document:
    return Document(
        text="Ada Oslo",
        mentions=(Mention(0, 3, "PER"), Mention(4, 8, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=relations,
    )


def test_the_predictions_of_an_evaluation_are_sorted_by_relation() -> None:
    gold = [document(Relation(0, 1, "born"), Relation(0, 1, "lived"))]
    predicted = [
        document(Relation(0, 1, "born", score=0.8), Relation(1, 0, "born", score=0.4)),
        document(Relation(0, 1, "died", score=0.3)).replace(id="unknown"),
    ]
    found = scored_relations(evaluate(gold, predicted))
    assert {name: (s.scores.tolist(), s.correct.tolist(), s.gold) for name, s in found.items()} == {
        "born": ([0.8, 0.4], [1.0, 0.0], 1),
        "lived": ([], [], 1),
        "died": ([0.3], [0.0], 0),
    }
    whole = together(found)
    assert whole.counts(0.0) == Counts(correct=1, predicted=3, gold=2)
    assert whole.counts(0.5) == Counts(correct=1, predicted=1, gold=2)
