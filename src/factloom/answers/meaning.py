"""Sentence vectors: texts of like meaning have a cosine near 1.

The mean of the states of all tokens, special ones included, brought to length 1, as the
`all-MiniLM-L6-v2` that ships was trained (Reimers, Gurevych: Sentence-BERT, EMNLP 2019).
"""

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from factloom.answers.text_vectors import TextVectors


class Meaning(Protocol):
    """Anything that makes vectors of texts."""

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, width) of length 1."""
        ...


class SentenceVectors:
    """The vectors of an encoder."""

    def __init__(self, texts: TextVectors) -> None:
        self.texts = texts

    @classmethod
    def load(cls, name: str) -> Self:
        return cls(TextVectors(name))

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, width) of length 1"""
        return self.texts.encode(texts)
