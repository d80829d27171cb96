"""Texts as vectors: the mean of an encoder's states, of length 1.

    v = m / |m|,  m = the mean of the states of all tokens, the special ones included

Reimers, Gurevych: Sentence-BERT, EMNLP 2019 (arXiv 1908.10084). all-MiniLM-L6-v2, the default
encoder, was trained for exactly that. Texts longer than the encoder's window are read in windows
that overlap.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from factloom.encoders.pretrained import DEFAULT_ENCODER

if TYPE_CHECKING:
    from torch import Tensor

    from factloom.encoders.encoder import Encoder

_BATCH_TOKENS = 4096  # padded tokens in one pass


class Embedder(Protocol):
    """Anything that makes vectors of length 1 of texts."""

    @property
    def name(self) -> str: ...

    @property
    def width(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, width) their vectors."""


class TextVectors:
    """An encoder by name, which is loaded when the first text comes."""

    def __init__(self, name: str = DEFAULT_ENCODER) -> None:
        self.name = name
        self._encoder: Encoder | None = None

    @property
    def encoder(self) -> "Encoder":
        if self._encoder is None:
            from factloom.encoders.encoder import Encoder

            self._encoder = Encoder.load(self.name)
            self._encoder.eval()
        return self._encoder

    @property
    def width(self) -> int:
        return self.encoder.width

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, width) their vectors."""
        import torch

        found = np.zeros((len(texts), self.width), np.float32)
        ids = [tokens.ids for tokens in self.encoder.tokenize(texts)]
        with torch.inference_mode():
            for batch in _batches([len(tokens) for tokens in ids]):
                windows = self.encoder.batch([ids[number] for number in batch])
                states = self.encoder.states(windows)
                found[batch] = _pooled(states, windows.lengths).numpy()
        return found


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Numbers of texts of like length, so that little is padded."""
    batches: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        # the newest is the longest, to which all others are padded
        if not batches or (len(batches[-1]) + 1) * lengths[number] > _BATCH_TOKENS:
            batches.append([])
        batches[-1].append(number)
    return batches


def _pooled(states: "Tensor", lengths: Sequence[int]) -> "Tensor":
    """(documents, length, width) -> (documents, width), each of length 1."""
    import torch
    from torch.nn import functional as F

    slots = torch.arange(states.shape[1])  # (length,)
    mask = (slots < torch.tensor(lengths)[:, None]).to(states.dtype)  # (documents, length)
    mean = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
    return F.normalize(mean, dim=-1)
