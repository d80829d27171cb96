"""Which words a model knows, and the row of each in its table of vectors.

Words fall into three parts: *learned* ones, whose vectors training changes; *fixed* ones, which
training has not seen and whose vectors come from a file; and *nameless* ones, of which nothing is
known but that they are words. Row 0 is for these, and for everything that is no word at all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Vocabulary:
    """All words: the learned ones, the fixed ones, the nameless ones."""

    words: tuple[str, ...]
    learned: int
    fixed: int

    def __post_init__(self) -> None:
        rows = {word: row for row, word in enumerate(self.known, start=1)}
        object.__setattr__(self, "_rows", rows)

    @property
    def known(self) -> tuple[str, ...]:
        """The words with a row of their own, which are the rows 1, 2, ..."""
        return self.words[: self.learned + self.fixed]

    def rows(self, words: Iterable[str]) -> Integers:
        """The rows of any words."""
        known: Mapping[str, int] = self.__dict__["_rows"]
        return np.array([known.get(word, 0) for word in words], np.int64)

    def rows_of(self, indices: Integers) -> Integers:
        """The rows of words by their place among `words`."""
        return np.where(indices < self.learned + self.fixed, indices + 1, 0)

    def to_config(self) -> dict[str, Any]:
        return {"words": self.words, "learned": self.learned, "fixed": self.fixed}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        return cls(tuple(config["words"]), config["learned"], config["fixed"])


def learn_vocabulary(
    counts: Mapping[str, int],
    candidates: Sequence[str] = (),
    has_vector: Callable[[str], bool] = lambda _: False,
    least: int = 2,
) -> Vocabulary:
    """`counts` are the words of the training data, `candidates` those that may come later.

    A word without a vector is learned if it was seen `least` times. The rarer ones train row 0,
    so that it means something when a new word comes.
    """
    by_count = sorted(counts, key=lambda word: (-counts[word], word))
    learned = [word for word in by_count if counts[word] >= least or has_vector(word)]
    taken = set(learned)
    others = [word for word in dict.fromkeys(candidates) if word not in taken]
    fixed = [word for word in others if has_vector(word)]
    nameless = [word for word in others if not has_vector(word)]
    return Vocabulary((*learned, *fixed, *nameless), len(learned), len(fixed))
