"""Windows that a graph reads: a few of one length at a time, so that nothing is masked."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from factloom.light.eight_bits import Runs
from factloom.modules.devices import Numbers

TOKENS = 1024  # of windows that are read at once: more need memory, gain nothing


def read_windows(graph: Runs, mask: Numbers, given: Mapping[str, Numbers]) -> list[Numbers]:
    """What the graph says of all windows: (windows, ..., window length, width) each.

    `mask` (windows, window length) is 1 for tokens; what is given is (windows, window length, ...).
    """
    lengths = mask.sum(1)  # (windows,)
    found: list[Numbers] = []
    for length in np.unique(lengths).tolist():
        alike = np.flatnonzero(lengths == length)
        for some in slices(0, len(alike), max(1, TOKENS // length)):
            own = alike[some]
            parts = graph.run({name: values[own, :length] for name, values in given.items()})
            found = found or [_padded(part, *mask.shape) for part in parts]
            for every, part in zip(found, parts, strict=True):
                every[own, ..., :length, :] = part
    return found


def _padded(part: Numbers, windows: int, length: int) -> Numbers:
    """Room for the same of all windows: (windows, ..., length, width)"""
    return np.zeros((windows, *part.shape[1:-2], length, part.shape[-1]), part.dtype)


def slices(first: int, end: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, end)) for start in range(first, end, size))


def merging(windows: Any) -> dict[str, Numbers]:
    """What graphs that merge windows to documents are given of a `WindowBatch`."""
    return {
        "document": windows.document,
        "slots": windows.slots,
        "places": np.zeros((len(windows.lengths), windows.length), np.bool_),
    }
