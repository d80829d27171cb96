"""Passages by their meaning: vectors of 8 bits a number, mapped from a file, searched exactly.

A vector v of length 1 is kept as whole numbers r and a scale s = max |v_i| / 127, v_i ~ s r_i, and
found by the cosine with the question's vector q: s (r . q). Exactly: every vector that is kept is
compared, none is skipped. A vector has a slot; slots of passages that are gone are used again, so
the file is never longer than the most passages that there have been.
"""

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factloom.errors import InputError, Place

Vectors = NDArray[np.float32]
Slots = NDArray[np.int64]

_ROWS = 1024  # compared at a time: few enough to stay in the processor's cache


class VectorIndex:
    """Vectors of one width in a file, or in memory where none is given."""

    def __init__(self, width: int, path: Path | None = None) -> None:
        self.width = width
        self.path = path
        self.row = np.dtype([("scale", np.float32), ("numbers", np.int8, (width,))])
        self._rows: NDArray[Any] = np.zeros(0, self.row)
        self.reload()

    def __len__(self) -> int:
        """How many slots there are, used or not."""
        return len(self._rows)

    def reload(self) -> None:
        """See what has been written, by whichever process."""
        if self.path is not None and self.path.is_file():
            count = self.path.stat().st_size // self.row.itemsize  # without a half-written row
            if count:
                self._rows = np.memmap(self.path, self.row, "r", shape=(count,))

    def write(self, slots: Slots, vectors: Vectors) -> None:
        """Put vectors into slots, which the index grows to hold, and safely onto the disk."""
        rows = self.packed(vectors)
        if self.path is None:
            if len(slots) and (longest := int(slots.max()) + 1) > len(self._rows):
                longest = max(longest, 2 * len(self._rows))
                grown = np.zeros(longest, self.row)
                grown[: len(self._rows)] = self._rows
                self._rows = grown
            self._rows[slots] = rows
            return
        self._write_file(slots, rows)
        self.reload()

    def packed(self, vectors: Vectors) -> NDArray[Any]:
        """Vectors as they are kept: (count, width) -> (count,) of scale and numbers."""
        rows = np.zeros(len(vectors), self.row)
        scale = np.abs(vectors).max(axis=1, initial=0.0) / 127  # (count,)
        rows["scale"] = scale
        safe = np.where(scale > 0, scale, 1)
        rows["numbers"] = np.rint(vectors / safe[:, None]).astype(np.int8)
        return rows

    def vectors(self, slots: Sequence[int] | Slots) -> Vectors:
        """The vectors that are kept in slots: (count, width)."""
        rows = self._rows[np.asarray(slots, np.int64)]
        found: Vectors = rows["numbers"] * rows["scale"][:, None]
        return found

    def search(self, vector: Vectors, top: int, among: Slots) -> tuple[Slots, Vectors]:
        """The slots of the best vectors `among` some, the best first, and their scores.

        `among` rises; of equals, the lower slot comes first.
        """
        scores = self._scores(vector)[among]
        if top < len(scores):
            least = np.partition(scores, len(scores) - top)[len(scores) - top]
            kept = np.flatnonzero(scores >= least)  # a few more than `top` where some are equal
        else:
            kept = np.arange(len(scores))
        order = kept[np.argsort(-scores[kept], kind="stable")][: max(top, 0)]
        return among[order], scores[order]

    def _scores(self, vector: Vectors) -> Vectors:
        """(slots,) those of all vectors."""
        count = len(self._rows)
        scores = np.empty(count, np.float32)
        widened = np.empty((min(_ROWS, count), self.width), np.float32)
        numbers = self._rows["numbers"]
        for start in range(0, count, _ROWS):
            part = numbers[start : start + _ROWS]
            np.copyto(widened[: len(part)], part)
            np.matmul(widened[: len(part)], vector, out=scores[start : start + _ROWS])
        scores *= self._rows["scale"]
        return scores

    def _write_file(self, slots: Slots, rows: NDArray[Any]) -> None:
        assert self.path is not None
        try:
            with self.path.open("r+b" if self.path.exists() else "w+b") as stream:
                for run in _runs(slots):
                    stream.seek(int(slots[run.start]) * self.row.itemsize)
                    stream.write(rows[run].tobytes())
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            place = Place(file=str(self.path))
            raise InputError("index-not-written", place, detail=error.strerror) from None


def _runs(slots: Slots) -> list[slice]:
    """Stretches of slots that lie behind each other, which are written at once."""
    breaks = np.flatnonzero(np.diff(slots) != 1) + 1
    edges = [0, *breaks.tolist(), len(slots)]
    return [slice(first, end) for first, end in pairwise(edges) if end > first]
