"""Stretches of a text, and what shares a character with them."""

from bisect import bisect_left
from collections.abc import Iterable

from factloom.document import Span


class Covered:
    """Half-open spans, which may overlap; empty ones cover nothing.

    >>> covered = Covered([(3, 5), (9, 12)])
    >>> covered.touches(4, 7), covered.touches(5, 9)
    (True, False)
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        self._starts: list[int] = []  # of stretches that do not overlap, in order
        self._ends: list[int] = []
        for start, end in sorted(span for span in spans if span[0] < span[1]):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def touches(self, start: int, end: int) -> bool:
        """Whether one of the spans has a character of `start` to `end`."""
        before = bisect_left(self._starts, end) - 1  # the last stretch that begins in front of end
        return start < end and before >= 0 and self._ends[before] > start
