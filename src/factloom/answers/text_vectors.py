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
from factloom.encoders.tokens import Tokens
from factloom.encoders.windows import TokenIds
from factloom.modules.devices import Numbers, torch_is_installed
from factloom.modules.windows import WindowBatch

if TYPE_CHECKING:
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


class StatesReader(Protocol):
    """What runs an encoder: with torch, or light/encoder.py."""

    @property
    def width(self) -> int: ...

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text."""

    def lay_out(self, documents: Sequence[TokenIds]) -> WindowBatch[Numbers]:
        """Documents as windows."""

    def window_states(self, windows: WindowBatch[Numbers]) -> Numbers:
        """(windows, window length, width)"""


class TensorStates:
    """An encoder that torch runs."""

    def __init__(self, encoder: "Encoder") -> None:
        self.encoder = encoder.eval()
        self.width = encoder.width
        self.tokenize, self.lay_out = encoder.tokenize, encoder.lay_out

    def window_states(self, windows: WindowBatch[Numbers]) -> Numbers:
        """(windows, window length, width)"""
        import torch

        with torch.inference_mode():
            found: Numbers = self.encoder.window_states(windows.to("cpu")).numpy()
        return found


class TextVectors:
    """An encoder by name, which is loaded when the first text comes; by torch, if it is there."""

    def __init__(self, name: str = DEFAULT_ENCODER) -> None:
        self.name = name
        self._reader: StatesReader | None = None

    @property
    def reader(self) -> StatesReader:
        if self._reader is None:
            self._reader = _opened(self.name)
        return self._reader

    @property
    def width(self) -> int:
        return self.reader.width

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, width) their vectors."""
        found = np.zeros((len(texts), self.width), np.float32)
        ids = [tokens.ids for tokens in self.reader.tokenize(texts)]
        for batch in _batches([len(tokens) for tokens in ids]):
            windows = self.reader.lay_out([ids[number] for number in batch])
            found[batch] = _pooled(self.reader.window_states(windows), windows)
        return found


class NoVectors:
    """Where no encoder can be run: all texts mean the same, and are found by their words."""

    name, width = "", 1

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, 1) zeros"""
        return np.zeros((len(texts), self.width), np.float32)


def can_read(name: str = DEFAULT_ENCODER) -> bool:
    """Whether there is something to run the encoder with."""
    if torch_is_installed():
        return True
    from factloom.light.encoder import has_light_encoder  # onnxruntime, which torch does without

    return has_light_encoder(name)


def _opened(name: str) -> StatesReader:
    if torch_is_installed():
        from factloom.encoders.encoder import Encoder

        return TensorStates(Encoder.load(name))
    from factloom.light.encoder import LightEncoder

    return LightEncoder(name)


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Numbers of texts of like length, so that little is padded."""
    batches: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        # the newest is the longest, to which all others are padded
        if not batches or (len(batches[-1]) + 1) * lengths[number] > _BATCH_TOKENS:
            batches.append([])
        batches[-1].append(number)
    return batches


def _pooled(states: Numbers, windows: WindowBatch[Numbers]) -> NDArray[np.float32]:
    """(windows, window length, width) -> (documents, width), each of length 1.

    What several windows hold counts as their mean.
    """
    lengths = np.array(windows.lengths)  # (documents,)
    cell = windows.document[:, None] * (windows.length + 1) + windows.slots  # of all documents
    held = np.bincount(cell.ravel(), minlength=len(lengths) * (windows.length + 1))
    share = windows.mask / held[cell] / lengths[windows.document][:, None]  # (windows, length)
    sums = np.matmul(share.astype(np.float32)[:, None], states)[:, 0]  # (windows, width)
    means = np.zeros((len(lengths), states.shape[2]), np.float32)
    np.add.at(means, windows.document, sums)
    vectors: NDArray[np.float32] = means / np.linalg.norm(means, axis=1, keepdims=True)
    return vectors
