"""Questions and passages as vectors whose inner product says how well they fit.

Karpukhin et al.: Dense Passage Retrieval, EMNLP 2020, arXiv 2004.04906; Guu et al.: REALM, ICML
2020, arXiv 2002.08909:

    q = W_q p(E_q(x))     v_z = W_z p(E_z(title, passage))     f(x, z) = q . v_z
    p(z|x) = exp f(x, z) / sum over passages z' of exp f(x, z')

E_q and E_z are encoders that begin as one; p is the state of the first token, [CLS] in BERT's
family, or the mean of all states, brought to length 1, for encoders that were trained for it. W_q
and W_z begin equal, so that x and z that say the same have a large product from the start.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from factloom.encoders.encoder import Encoder
from factloom.encoders.windows import TokenIds
from factloom.modules.evaluating import evaluating
from factloom.modules.windows import WindowBatch

Pooling = Literal["first", "mean"]

_BATCH_TOKENS = 4096  # padded tokens in one pass
_SHARPNESS = 20.0  # the product of two means that are equal, at the start


class TextEmbedder(nn.Module):
    """One of the two: an encoder, and what makes a vector of its states."""

    def __init__(self, encoder: Encoder, width: int, pooling: Pooling) -> None:
        super().__init__()
        self.width, self.pooling = width, pooling
        self.encoder = encoder
        self.projection = nn.Linear(encoder.width, width, bias=False)
        self._begin()

    @torch.no_grad()
    def _begin(self) -> None:
        """Means keep their cosines, nearly: the projection turns and, if it has to, shortens."""
        if self.pooling == "first":
            nn.init.normal_(self.projection.weight, std=0.02)  # as BERT begins its layers
            return
        nn.init.orthogonal_(self.projection.weight)
        lost = max(1.0, self.encoder.width / self.width)
        self.projection.weight.mul_(math.sqrt(_SHARPNESS * lost))

    def forward(self, windows: WindowBatch) -> Tensor:
        """(texts, width)"""
        states = self.encoder.states(windows)  # (texts, length, encoder width)
        if self.pooling == "first":
            return self._projected(states[:, 0])
        slots = torch.arange(states.shape[1], device=states.device)
        lengths = torch.tensor(windows.lengths, device=states.device)
        inside = (slots < lengths[:, None])[..., None]  # (texts, length, 1)
        means = (states * inside).sum(1) / lengths[:, None]
        return self._projected(nn.functional.normalize(means, dim=-1))

    def _projected(self, pooled: Tensor) -> Tensor:
        projected: Tensor = self.projection(pooled)
        return projected

    def tokens(self, texts: Sequence[str]) -> list[TokenIds]:
        return [tokens.ids for tokens in self.encoder.tokenize(texts)]

    @torch.no_grad()
    def encode(self, tokens: Sequence[TokenIds]) -> NDArray[np.float32]:
        """(texts, width) of many texts, those of like length together; nothing is learned."""
        found = np.zeros((len(tokens), self.width), np.float32)
        device = self.projection.weight.device
        with evaluating(self):
            for numbers in _alike([len(ids) for ids in tokens]):
                windows = self.encoder.batch([tokens[number] for number in numbers])
                found[numbers] = self(windows.to(device)).float().cpu().numpy()
        return found

    @property
    def changes(self) -> int:
        """A number that is another after every change of the weights."""
        return sum(weights._version for weights in self.parameters())


class DualEncoder(nn.Module):
    """The two embedders."""

    def __init__(self, encoder: Encoder, width: int = 128, pooling: Pooling = "first") -> None:
        super().__init__()
        self.questions = TextEmbedder(encoder, width, pooling)
        self.passages = TextEmbedder(encoder.renewed(**encoder.options()), width, pooling)
        self.passages.load_state_dict(self.questions.state_dict())

    @property
    def width(self) -> int:
        return self.questions.width


def _alike(lengths: Sequence[int]) -> list[list[int]]:
    """Numbers of texts of like length, so that little is padded."""
    groups: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        # the newest is the longest, to which all others are padded
        if not groups or (len(groups[-1]) + 1) * (lengths[number] + 2) > _BATCH_TOKENS:
            groups.append([])
        groups[-1].append(number)
    return groups
