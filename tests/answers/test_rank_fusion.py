"""Rankings joined by reciprocal rank, against the formula written down naively."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.answers.retrieval import fuse_ranks

RANKINGS = st.lists(st.lists(st.integers(0, 12), unique=True, max_size=8), max_size=4)


@given(RANKINGS, st.integers(0, 100))
def test_scores_are_sums_of_reciprocal_ranks(rankings: list[list[int]], constant: int) -> None:
    found = fuse_ranks(rankings, constant)
    items = {item for ranking in rankings for item in ranking}
    assert {item for item, _ in found} == items
    for item, score in found:
        naive = sum(1 / (constant + r.index(item) + 1) for r in rankings if item in r)
        assert score == pytest.approx(naive)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)


def test_what_both_know_is_before_what_one_has_first() -> None:
    assert fuse_ranks([[1, 2, 3], [4, 2]])[0][0] == 2


def test_of_equals_the_first_ranking_decides() -> None:
    assert [item for item, _ in fuse_ranks([[5], [6]])] == [5, 6]
