"""Spans by brute force: over all pairs of a start and an end."""

import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from factloom.modules.best_spans import best_spans
from factloom.modules.span_search import pointed_spans

scores = st.integers(-20, 20)


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """Starts and ends with no two alike, and a reach for each word."""
    count = draw(st.integers(1, 7))
    values = draw(st.permutations(range(2 * count)))
    reach = [draw(st.integers(word + 1, count)) for word in range(count)]
    return list(values[:count]), list(values[count:]), reach


@given(rows(), st.integers(1, 4), st.integers(1, 3), scores)
def test_the_best_starts_have_their_best_ends(
    given_: tuple[list[int], list[int], list[int]], longest: int, top: int, none: int
) -> None:
    starts, ends, reach = given_
    expected = [
        (first, max(range(first, min(first + longest, reach[first])), key=lambda last: ends[last]))
        for first in sorted(range(len(starts)), key=lambda word: -starts[word])[:top]
        if starts[first] > none
    ]
    first, last, better = pointed_spans(
        torch.tensor([starts]).double(),
        torch.tensor([ends]).double(),
        torch.tensor([none]).double(),
        torch.tensor([reach]),
        longest,
        top,
    )
    found = zip(first[0].tolist(), last[0].tolist(), better[0].tolist(), strict=True)
    assert [(one, other) for one, other, kept in found if kept] == expected


@given(rows(), st.integers(1, 4))
def test_no_span_reaches_too_far(
    given_: tuple[list[int], list[int], list[int]], longest: int
) -> None:
    starts, ends, reach = given_
    possible = {
        (first, last): starts[first] + ends[last]
        for first in range(len(starts))
        for last in range(first, min(first + longest, reach[first]))
    }
    given_arrays = (np.array([each], np.float64) for each in (starts, ends))
    found = list(best_spans(*given_arrays, longest, 1, np.array([reach])))
    ((value, first, last),) = [tuple(each.item() for each in one) for one in found]
    assert value == max(possible.values())
    assert possible[int(first), int(last)] == value
    assert math.isfinite(value)
