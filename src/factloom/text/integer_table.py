"""Different integers, each in a slot of its own, looked up for whole arrays at once.

Pagh: Hash and Displace: Efficient Evaluation of Minimal Perfect Hash Functions, WADS 1999. An odd
multiplier m sends an integer x to the highest bits of m x mod 2^64.

    bucket(x)   by one multiplier for all x
    slot(x)     by the multiplier of the bucket, chosen so that no two keys share a slot

So one look into the table of multipliers and one into the table of keys tell whether x is there:
no search goes on for longer than another, and numpy does them all together.
"""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
_Multipliers = NDArray[np.uint64]

_EMPTY = -1
_HALF = np.uint64(32)


class IntegerTable:
    """Integers from 1 to 2^48; `slots` is how many slots there are, about four for three keys.

    0 and large powers of two would go to few slots, whatever the multiplier.
    """

    def __init__(self, keys: Integers) -> None:
        self.slots = len(keys) + len(keys) // 3 + 1
        bits = max(1, len(keys).bit_length() - 1)  # of buckets: one or two keys each
        random = np.random.default_rng(0)
        self._bucket_shift = np.uint64(64 - bits)
        self._bucket_multiplier = _odd(random, 1)
        self._slot_multipliers = np.ones(2**bits, np.uint64)
        self._keys = np.full(self.slots, _EMPTY)
        self._fill(keys, random)

    def find(self, keys: Integers) -> tuple[Integers, Integers]:
        """Which of the keys are there, and in which slots: (found,) twice."""
        slots = self._slots(keys, self._slot_multipliers.take(self._buckets(keys)))
        found = np.flatnonzero(self._keys.take(slots) == keys)
        return found, slots.take(found)

    def _buckets(self, keys: Integers) -> Integers:
        products = keys.view(np.uint64) * self._bucket_multiplier
        return (products >> self._bucket_shift).view(np.int64)

    def _slots(self, keys: Integers, multipliers: _Multipliers) -> Integers:
        highest = (keys.view(np.uint64) * multipliers) >> _HALF
        return ((highest * np.uint64(self.slots)) >> _HALF).view(np.int64)

    def _fill(self, keys: Integers, random: np.random.Generator) -> None:
        """Large buckets first, as long as most slots are free."""
        buckets = self._buckets(keys)
        sizes = np.bincount(buckets)[buckets]  # (keys,) of each key's bucket
        together = np.argsort(buckets, kind="stable")
        for size in np.unique(sizes)[::-1]:
            waiting = keys[together[sizes[together] == size]].reshape(-1, size)  # (buckets, size)
            while len(waiting):
                multipliers = _odd(random, len(waiting))
                placed = self._place(waiting, multipliers)
                chosen = self._buckets(waiting[placed, 0])
                self._slot_multipliers[chosen] = multipliers[placed]
                waiting = waiting[~placed]

    def _place(self, keys: Integers, multipliers: _Multipliers) -> NDArray[np.bool_]:
        """Put buckets where their multipliers send them; (buckets,) False if a slot is taken."""
        slots = self._slots(keys, multipliers[:, None])  # (buckets, size)
        free: NDArray[np.bool_] = (self._keys[slots] == _EMPTY).all(1)
        claimed = slots[free]
        self._keys[claimed] = keys[free]  # of several claims to a slot the last one stands
        granted = (self._keys[claimed] == keys[free]).all(1)
        self._keys[claimed[~granted]] = _EMPTY
        self._keys[claimed[granted]] = keys[free][granted]
        free[free] = granted
        return free


def _odd(random: np.random.Generator, count: int) -> _Multipliers:
    return random.integers(0, 2**64, count, np.uint64) | np.uint64(1)
