"""The best spans where a span is worth what its start and its end are worth.

Arrays of numpy, whoever has made them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from factloom.modules.devices import Numbers

Integers = NDArray[np.int64]


def best_spans(
    starts: Numbers, ends: Numbers, longest: int, top: int, reach: Integers | None = None
) -> Iterator[tuple[NDArray[Any], Integers, Integers]]:
    """The best `top` spans of each row: score, first and last word, (rows,) each.

    Those of a row do not overlap. The score of a span is that of its start and its end, (rows,
    words) each, with first <= last < first + longest and, where that is given, last < reach[first],
    (rows, words). A row that has no more spans gives -inf.
    """
    rows, words = starts.shape
    longest = min(longest, words)
    padded = np.pad(ends, ((0, 0), (0, longest - 1)), constant_values=-np.inf)
    later = sliding_window_view(padded, longest, axis=1)  # (rows, words, longest)
    scores = starts[..., None] + later  # (rows, words, longest)
    first = np.arange(words)[:, None]  # (words, 1)
    last = first + np.arange(longest)  # (words, longest)
    if reach is not None:
        scores = np.where(last >= reach[..., None], -np.inf, scores)
    for _ in range(top):
        places = scores.reshape(rows, -1).argmax(1)  # (rows,)
        begin = places // longest
        end = begin + places % longest
        yield scores[np.arange(rows), begin, end - begin], begin, end
        overlaps = (first <= end[:, None, None]) & (last >= begin[:, None, None])
        scores = np.where(overlaps, -np.inf, scores)
