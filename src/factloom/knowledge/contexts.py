"""Texts as vectors of length 1, by any encoder: the mean of a text's states.

    Linker(base, TextVectors(Encoder.load("all-MiniLM-L6-v2")))

That is how all-MiniLM-L6-v2 was trained to be used (Reimers and Gurevych, Sentence-BERT, EMNLP
2019), so that the cosine of two texts tells how much they speak of the same.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from factloom.encoders.encoder import Encoder
from factloom.modules.evaluating import evaluating

_TOGETHER = 32  # texts; of a length, so that little is padding


class TextVectors:
    """What a `Linker` takes."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, width)"""
        found = np.zeros((len(texts), self.encoder.width), np.float32)
        tokens = [each.ids[: self.encoder.capacity] for each in self.encoder.tokenize(list(texts))]
        order = sorted(range(len(texts)), key=lambda index: len(tokens[index]))
        with evaluating(self.encoder), torch.inference_mode():
            for start in range(0, len(order), _TOGETHER):
                chosen = order[start : start + _TOGETHER]
                windows = self.encoder.batch([tokens[index] for index in chosen])
                states = self.encoder.states(windows)  # (texts, length, width)
                mask = windows.mask[:, :, None].to(states.dtype)
                means = (states * mask).sum(1) / mask.sum(1)
                found[chosen] = F.normalize(means, dim=-1).cpu().numpy()
        return found
