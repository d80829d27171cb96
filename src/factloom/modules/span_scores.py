"""Which words begin and end a span, and which of their pairs are spans: BERT-MRC's three scores.

Li, Feng, Meng, Han, Wu, Li: A Unified MRC Framework for Named Entity Recognition, ACL 2020,
arXiv 1910.11476. With E_i the state of word i:

    start_i    = w_s E_i + b_s
    end_j      = w_e E_j + b_e
    span_(i,j) = v GELU(W [E_i; E_j] + b) + c

W [E_i; E_j] = W_a E_i + W_b E_j: both products are made once a word, and a pair costs one
addition and one small product more. So the span score is affordable for every pair of a likely
start and a likely end, and no table of length x length is ever laid out.
"""

import math

import torch
from torch import Tensor, nn

from factloom.modules.divergence import sigmoid_divergence

# Starts and ends are rare. A network that begins by knowing it learns steadily, and does not
# take every word for a start in its first steps.
_RARE = 0.02


class SpanScores(nn.Module):
    """Logits for starts, ends and spans over words that stand in one row.

    `first` and `last` (words, width) are the states of each word's first and last token: a span
    begins with the one and ends with the other. Formula and reference: see the module.
    """

    def __init__(self, inputs: int, width: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.start = nn.Linear(inputs, 1)
        self.end = nn.Linear(inputs, 1)
        self.first_part = nn.Linear(inputs, width)
        self.last_part = nn.Linear(inputs, width, bias=False)  # the bias is in the other part
        self.dropout = nn.Dropout(dropout)
        self.span = nn.Linear(width, 1)
        for edge in (self.start, self.end):
            nn.init.constant_(edge.bias, math.log(_RARE / (1 - _RARE)))

    def edges(self, first: Tensor, last: Tensor) -> Tensor:
        """The logits of starts and of ends: (words, 2)."""
        return torch.cat([self.start(first), self.end(last)], 1)

    def divergence(self, reference: Tensor, logits: Tensor) -> Tensor:
        """KL(reference || logits) of each word's edges: (words, 2) twice -> (words,)."""
        return sigmoid_divergence(reference, logits)

    def forward(self, first: Tensor, last: Tensor, spans: Tensor) -> Tensor:
        """The logits of `spans` (spans, 2), first and last word of each: (spans,)."""
        # only words at which a span begins or ends are projected
        starts, start = spans[:, 0].unique(return_inverse=True)
        ends, end = spans[:, 1].unique(return_inverse=True)
        first_part = self.first_part(first.index_select(0, starts))  # (starts, width)
        last_part = self.last_part(last.index_select(0, ends))  # (ends, width)
        joined = first_part.index_select(0, start) + last_part.index_select(0, end)
        logits: Tensor = self.span(self.dropout(nn.functional.gelu(joined))).squeeze(-1)
        return logits


def candidate_spans(edges: Tensor, limit: Tensor) -> Tensor:
    """Every start with every end at or behind it, before its limit.

    `edges`, bool (words, 2), are the words that start and that end a span; `limit` (words,) is the
    word before which a span has to end that begins here. Returns (spans, 2), first and last word,
    in order. The work grows with starts, ends and spans found, never with words x words.
    """
    start = edges[:, 0].nonzero().flatten()  # (starts,)
    end = edges[:, 1].nonzero().flatten()  # (ends,)
    nearest = torch.searchsorted(end, start)  # (starts,) into `end`
    beyond = torch.searchsorted(end, limit[start])  # (starts,) into `end`
    counts = beyond - nearest  # (starts,) ends that fit
    owner = torch.repeat_interleave(counts)  # (spans,) into `start`
    before = counts.cumsum(0) - counts  # (starts,) spans of the starts in front
    number = torch.arange(len(owner), device=owner.device) - before[owner]  # within its start
    return torch.stack([start[owner], end[nearest[owner] + number]], 1)
