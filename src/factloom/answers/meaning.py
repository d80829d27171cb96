"""Sentence vectors: texts of like meaning have a cosine near 1.

The mean of the states of all tokens, special ones included, brought to length 1, as the
`all-MiniLM-L6-v2` that ships was trained (Reimers, Gurevych: Sentence-BERT, EMNLP 2019).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from factloom.encoders.encoder import Encoder

_TOGETHER = 128  # texts


class Meaning(Protocol):
    """Anything that makes vectors of texts."""

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, width) of length 1."""
        ...


class SentenceVectors:
    """The vectors of an encoder."""

    def __init__(self, encoder: "Encoder") -> None:
        self.encoder = encoder.eval()

    @classmethod
    def load(cls, name: str) -> Self:
        from factloom.encoders.encoder import Encoder

        return cls(Encoder.load(name))

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, width) of length 1; texts of like length are read together."""
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        found = np.zeros((len(texts), self.encoder.width), np.float32)
        for start in range(0, len(order), _TOGETHER):
            numbers = order[start : start + _TOGETHER]
            found[numbers] = self._together([texts[number] for number in numbers])
        return found

    def _together(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import torch

        windows = self.encoder.batch([tokens.ids for tokens in self.encoder.tokenize(texts)])
        lengths = torch.tensor(windows.lengths)  # (texts,)
        with torch.inference_mode():
            states = self.encoder.states(windows)  # (texts, length, width)
        inside = torch.arange(states.shape[1]) < lengths[:, None]
        means = (states * inside[..., None]).sum(1) / lengths[:, None]  # (texts, width)
        vectors: NDArray[np.float32] = torch.nn.functional.normalize(means, dim=1).numpy()
        return vectors
