"""Neighbours in runs: all of them, in order, and no run has room for one more."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from factloom.text.cutting import runs


def naive(spans: list[tuple[int, int]], most: int) -> list[list[tuple[int, int]]]:
    groups: list[list[tuple[int, int]]] = []
    for span in spans:
        if groups and span[1] - groups[-1][0][0] <= most:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12))), st.integers(1, 30))
def test_neighbours_come_together_as_long_as_they_fit(
    gaps_and_lengths: list[tuple[int, int]], most: int
) -> None:
    edges = list(accumulate(number for pair in gaps_and_lengths for number in pair))
    spans = list(zip(edges[::2], edges[1::2], strict=True))
    found = runs([start for start, _ in spans], [end for _, end in spans], most)
    assert [spans[first:behind] for first, behind in found] == naive(spans, most)
