"""Attention that knows how far apart two tokens are: NEZHA's functional relative positions.

Wei et al.: NEZHA: Neural Contextualized Representation for Chinese Language Understanding, 2019,
arXiv 1909.00204; after Shaw, Uszkoreit, Vaswani: Self-Attention with Relative Position
Representations, NAACL 2018, arXiv 1803.02155.

    score   s_ij = (q_i . k_j + q_i . a_ij) / sqrt(d)
    out     o_i  = sum over j of softmax(s)_ij (v_j + a_ij)
    a_ij    = r(clip(j - i, -K, K)), the sinusoids of a distance; K = 127, nothing is learned

One table of 2 K + 1 rows serves keys and values. q_i . a_ij is looked up among the products of q_i
with the rows of the table, and the sum over values is one over its rows: no tensor has a vector for
each pair of tokens.
"""

import torch
from torch import Tensor

from factloom.modules.lattice_attention import sinusoids


class RelativePositions:
    """The table of a width, and the row of each pair of tokens."""

    def __init__(self, positions: Tensor, width: int, limit: int) -> None:
        """`positions` are (length,), or (windows, length) where they differ."""
        steps = torch.arange(-limit, limit + 1, device=positions.device)
        self.table = sinusoids(steps, width).to(torch.float32)  # (2 K + 1, d)
        apart = positions[..., None, :] - positions[..., :, None]  # (.., i, j) j - i
        row = apart.clamp(-limit, limit) + limit
        # (1 or windows, 1, length, length)
        self.row = row[None, None] if row.dim() == 2 else row[:, None]

    def scores(self, query: Tensor) -> Tensor:
        """q_i . a_ij: (windows, heads, length, d) -> (windows, heads, length, length)"""
        products = query @ self.table.to(query.dtype).t()  # (windows, heads, length, 2 K + 1)
        return products.gather(-1, self.row.expand(*query.shape[:2], -1, -1))

    def values(self, weights: Tensor) -> Tensor:
        """sum_j p_ij a_ij: (windows, heads, length, length) -> (windows, heads, length, d)"""
        rows = self.row.expand_as(weights)
        by_row = weights.new_zeros(*weights.shape[:3], len(self.table))
        return by_row.scatter_add(-1, rows, weights) @ self.table.to(weights.dtype)
