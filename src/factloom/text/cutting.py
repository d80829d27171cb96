"""Long texts in parts: how neighbours that are not cut, such as sentences, come together.

Neighbours are told by where each begins and ends, in characters or tokens, in the order of the
text. A run begins with one of them and has all that follow and still fit; one that is too long by
itself is a run alone.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence


def end_of_run(starts: Sequence[int], ends: Sequence[int], first: int, most: int) -> int:
    """Behind the last neighbour that a run from `first` on can hold within `most`."""
    return max(first + 1, bisect_right(ends, starts[first] + most))


def runs(starts: Sequence[int], ends: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """All neighbours in runs, half-open, each as long as it can be.

    >>> list(runs([0, 10, 20, 90], [9, 19, 80, 95], 20))
    [(0, 2), (2, 3), (3, 4)]
    """
    first = 0
    while first < len(starts):
        behind = end_of_run(starts, ends, first, most)
        yield first, behind
        first = behind
