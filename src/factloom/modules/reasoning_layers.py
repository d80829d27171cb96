"""A layer of reasoning over entity pairs: the attention, then one of two units a pair."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from factloom.modules.pair_reasoning import PairMatrix, ReasoningAttention
from factloom.reasoning_patterns import PATTERNS

KEPT = 16  # about so many numbers a feature does a layer keep for its backward pass


class FeedForward(nn.Module):
    """What the paper does with the attention's output a of a pair x.

    y = norm(x + a);  x' = norm(y + W_2 gelu(W_1 y))
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, pairs: Tensor, attended: Tensor) -> Tensor:
        """(pairs, width) twice -> (pairs, width)"""
        between = self.first_norm(pairs + self.dropout(attended))
        change = self.outer(F.gelu(self.inner(between)))
        refined: Tensor = self.second_norm(between + self.dropout(change))
        return refined


class Highway(nn.Module):
    """What the authors' code does with it (highway: Srivastava et al., 2015, arXiv 1505.00387).

    g = sigmoid(W_g a);  x' = norm(x + W_o (g gelu(W a) + (1 - g) a))

    The bias of the gate begins at -1: most of the attention's output passes unchanged at first.
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.transform, self.gate = nn.Linear(width, width), nn.Linear(width, width)
        self.outer, self.norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)
        nn.init.constant_(self.gate.bias, -1.0)

    def forward(self, pairs: Tensor, attended: Tensor) -> Tensor:
        """(pairs, width) twice -> (pairs, width)"""
        attended = self.dropout(attended)
        changed = F.gelu(self.transform(attended))
        passed = torch.lerp(attended, changed, self.gate(attended).sigmoid())
        refined: Tensor = self.norm(pairs + self.dropout(self.outer(passed)))
        return refined


UNITS = {"feed_forward": FeedForward, "highway": Highway}


class ReasoningLayer(nn.Module):
    """Attention, then a unit that looks at each pair and its attention's output alone.

    Beyond `elements` numbers that would be kept for the backward pass, both are made again there.
    """

    def __init__(
        self,
        width: int,
        patterns: Sequence[int] = PATTERNS,
        unit: str = "feed_forward",
        dropout: float = 0.1,
        elements: int = 2**24,
    ) -> None:
        super().__init__()
        self.elements = elements
        self.attention = ReasoningAttention(width, patterns, elements)
        self.unit = UNITS[unit](width, dropout)

    def forward(self, pairs: Tensor, matrix: PairMatrix) -> Tensor:
        """(pairs, width) -> (pairs, width)"""
        if torch.is_grad_enabled() and KEPT * pairs.numel() > self.elements:
            attended = checkpoint(self.attention, pairs, matrix, use_reentrant=False)
            refined: Tensor = checkpoint(self.unit, pairs, attended, use_reentrant=False)
        else:
            refined = self.unit(pairs, self.attention(pairs, matrix))
        return refined
