"""Pairs that may have the same relations: no others are asked of them.

Most relations hold between few types of things, so most cells of (pairs, relations) are known to be
empty before a classifier has seen them. Pairs are put into groups by what they may have, and each
group is asked for just that.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClassGroup:
    """Some pairs, and the relations that are asked of them."""

    rows: Integers  # (pairs of the group,) rising
    relations: Integers  # (relations,) rising

    def between(self, first: int, end: int) -> Integers:
        """(pairs of the group from `first` to before `end`,)"""
        return self.rows[slice(*np.searchsorted(self.rows, (first, end)))]


def grouped(kinds: Integers, allowed: NDArray[np.bool_]) -> tuple[ClassGroup, ...]:
    """Groups of pairs by the kind of each, (pairs,); `allowed` (kinds, relations).

    Kinds that allow the same are one group; pairs that may have no relation are in none.
    """
    rows, same = np.unique(allowed, axis=0, return_inverse=True)
    of_pairs = same.reshape(-1)[kinds]  # (pairs,)
    return tuple(_groups(rows, of_pairs))


def _groups(allowed: NDArray[np.bool_], of_pairs: Integers) -> Iterator[ClassGroup]:
    order = np.argsort(of_pairs, kind="stable")
    cuts = np.searchsorted(of_pairs[order], np.arange(1, len(allowed)))
    for rows, own in zip(np.split(order, cuts), allowed, strict=True):
        if len(rows) and own.any():
            yield ClassGroup(rows, np.flatnonzero(own))
