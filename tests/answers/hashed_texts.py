"""Vectors of texts without an encoder: words in common make texts alike, in the same way always."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class HashedTexts:
    """A text is the sum of the random vectors of its words."""

    def __init__(self, width: int = 16, name: str = "hashed") -> None:
        self.width = width
        self.name = name
        self.encoded = 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += len(texts)
        found = np.stack([self._sum(text) for text in texts])
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)

    def _sum(self, text: str) -> NDArray[np.float64]:
        words = text.lower().split()
        return np.sum([self._word(word.strip(".,?")) for word in words], axis=0)

    def _word(self, word: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        return np.random.default_rng(seed).normal(size=self.width)
