"""Attention to a segment and to what is remembered of those before it: Transformer-XL's.

Dai, Yang, Yang, Carbonell, Le, Salakhutdinov: Transformer-XL: Attentive Language Models beyond a
Fixed-Length Context, ACL 2019, arXiv 1901.02860.

    keys      x_j of the memory, m tokens, and of the segment, L tokens in front of or at i
    score     a_ij = ((W_q x_i + u)^T W_kE x_j + (W_q x_i + v)^T W_kR R_(i-j)) / sqrt(d)
    R         sinusoids of the distance i - j, from 0 to m + L - 1

Distances and not places are all that a token knows of another, so that what was read as place 5 can
be remembered as what is 100 tokens away. The second product is made with the m + L rows of R, and
then shifted, each row of scores by its own place: no tensor has a vector for each pair of tokens.

    row i has distance            m+L-1 ... 0          shifted, column j has distance i + m - j
    0                             5 4 3 2 1 0          3 2 1 0 . .
    1            m = 3, L = 3     5 4 3 2 1 0          4 3 2 1 0 .
    2                             5 4 3 2 1 0          5 4 3 2 1 0
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from factloom.modules.lattice_attention import sinusoids


class RecurrentAttention(nn.Module):
    """Several heads; u and v are the layer's own."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.distance = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.content_bias = nn.Parameter(torch.zeros(heads, 1, width // heads))  # u
        self.distance_bias = nn.Parameter(torch.zeros(heads, 1, width // heads))  # v

    def forward(self, states: Tensor, memory: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """(rows, L, width), and the attention (rows, heads, L, m + L).

        `memory` (rows, m, width) stands in front of `states` (rows, L, width); `seen`
        (rows, L, m + L) says which keys a token sees, none of them behind it.
        """
        keys = torch.cat([memory, states], dim=1)
        query = self._split(self.query(states))  # (rows, heads, L, d)
        key, value = self._split(self.key(keys)), self._split(self.value(keys))
        apart = torch.arange(keys.shape[1] - 1, -1, -1, device=states.device)
        table = sinusoids(apart, states.shape[-1]).to(states.dtype)  # (m + L, width)
        distance = self._split(self.distance(table)[None])  # (1, heads, m + L, d)
        scores = (query + self.content_bias) @ key.transpose(2, 3)
        scores = scores + shifted((query + self.distance_bias) @ distance.transpose(2, 3))
        scores = scores * query.shape[-1] ** -0.5
        weights = scores.masked_fill(~seen[:, None], torch.finfo(scores.dtype).min).softmax(-1)
        dropped = functional.dropout(weights, self.dropout, self.training)
        mixed = (dropped @ value).transpose(1, 2).flatten(2)  # (rows, L, width)
        return self.output(mixed), weights

    def _split(self, vectors: Tensor) -> Tensor:
        """(rows, length, width) -> (rows, heads, length, d)"""
        rows, length, width = vectors.shape
        return vectors.view(rows, length, self.heads, width // self.heads).transpose(1, 2)


def shifted(scores: Tensor) -> Tensor:
    """Row i moves to the left by L - 1 - i: (.., L, m + L), where columns up to i + m are right.

    A column in front, and the same numbers in rows that are shorter by one, do it for all rows.
    """
    length, keys = scores.shape[-2:]
    padded = functional.pad(scores, (1, 0))  # (.., L, m + L + 1)
    again = padded.reshape(*scores.shape[:-2], keys + 1, length)
    return again[..., 1:, :].reshape(*scores.shape[:-2], length, keys)
