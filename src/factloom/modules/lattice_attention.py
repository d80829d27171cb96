"""Attention between the spans of a lattice: characters and the words found among them.

Li, Yan, Qiu, Huang: FLAT: Chinese NER Using Flat-Lattice Transformer, ACL 2020, arXiv 2004.11795.
A span i has a head h_i and a tail t_i, the positions of its first and last character (the same for
a character). Two spans have four distances, and with sinusoidal embeddings p of them

    R_ij  = ReLU(W_r [p(h_i - h_j); p(t_i - h_j); p(h_i - t_j); p(t_i - t_j)])
    A*_ij = ((W_q x_i + u)^T W_kE x_j + (W_q x_i + v)^T W_kR R_ij) / sqrt(head width)

The authors lay out R_ij for all pairs of spans, four times as wide before W_r, and project each by
W_kR. Here no such tensor is made, and the numbers are the same:

- The concatenation is linear: W_r falls into four parts, one table a kind of distance, and the
  argument of the ReLU is the sum of four rows.
- The ReLU joins the four distances, but few quadruples are distinct: they depend on the offset
  h_i - h_j and the lengths of both spans alone. R has a row for each distinct quadruple.
- (W_q x_i + v)^T W_kR is made once a span and head; R's rows are gathered for a few spans at a
  time, forward and again backward.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

# Numbers of R gathered at a time: about what a processor's cache holds.
_GATHERED = 2**18


@dataclass(frozen=True, slots=True)
class SpanPairs:
    """The distinct quadruples of distances in a batch, and which one each pair of spans has.

    A pair's code is the sum of its query's and its key's; the table of pairs is never whole.
    """

    distances: Tensor  # (quadruples, 4) head-head, tail-head, head-tail, tail-tail
    number: Tensor  # (codes,) into the quadruples
    query_code: Tensor  # (sentences, queries)
    key_code: Tensor  # (sentences, spans)

    @property
    def queries(self) -> int:
        return self.query_code.shape[1]

    def index(self, rows: slice) -> Tensor:
        """The quadruples of some queries with all spans: (sentences, rows, spans)."""
        code = self.query_code[:, rows, None] + self.key_code[:, None]
        return self.number.index_select(0, code.flatten()).view_as(code)

    def of_first(self, queries: int) -> Self:
        """The pairs of the first spans with all."""
        return replace(self, query_code=self.query_code[:, :queries])


def span_pairs(
    heads: Tensor, tails: Tensor, queries: int | None = None, elements: int = 2**20
) -> SpanPairs:
    """The pairs of the first `queries` spans of each sentence, or of all, with all of its spans.

    heads and tails are (sentences, spans). `elements` pairs are looked at together.
    """
    lengths, kind = torch.unique(tails - heads, return_inverse=True)  # kind: (sentences, spans)
    furthest = int(heads.max() - heads.min())
    offsets = 2 * furthest + 1
    # code = (kind of query x kinds + kind of key) x offsets + h_i - h_j + furthest
    query_code = (kind * len(lengths) * offsets + heads + furthest)[:, :queries]
    key_code = kind * offsets - heads
    present = torch.zeros(len(lengths) ** 2 * offsets, dtype=torch.bool, device=heads.device)
    for rows in _parts(query_code.shape[1], key_code.numel(), elements):
        present[(query_code[:, rows, None] + key_code[:, None]).flatten()] = True
    found = present.nonzero().flatten()  # (quadruples,) codes
    between = found % offsets - furthest  # h_i - h_j
    query = lengths[found // offsets // len(lengths)]  # t_i - h_i
    key = lengths[found // offsets % len(lengths)]  # t_j - h_j
    distances = torch.stack([between, between + query, between - key, between + query - key], 1)
    return SpanPairs(distances, present.cumsum(0) - 1, query_code, key_code)


class RelativeSpans(nn.Module):
    """R for every distinct quadruple of distances."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.projection = nn.Linear(4 * width, width, bias=False)  # W_r

    def forward(self, distances: Tensor) -> Tensor:
        """(quadruples, 4) -> (quadruples, width)"""
        weight = self.projection.weight
        furthest = int(distances.abs().max())
        steps = torch.arange(-furthest, furthest + 1, device=weight.device)
        positions = sinusoids(steps, self.width).to(weight)  # (steps, width)
        tables = [positions @ part.t() for part in weight.chunk(4, dim=1)]  # (steps, width) each
        rows = distances + furthest
        # embedding, not indexing: its gradient is an order of magnitude faster
        total = F.embedding(rows[:, 0], tables[0])
        for kind in range(1, 4):
            total = total + F.embedding(rows[:, kind], tables[kind])
        return total.relu()


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """p_d: sin(d / 10000^(2k / width)) and the cosine side by side. (positions,) -> (.., width)"""
    powers = torch.arange(0, width, 2, device=positions.device, dtype=torch.float64) / width
    angles = positions[:, None] / 10000.0**powers  # (positions, width / 2)
    return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)[:, :width]


class LatticeAttention(nn.Module):
    """Several heads of A*, each with W_q, W_kE, W_kR, W_v, u and v of its own.

    At most `elements` scores are laid out at a time, by a few queries of all sentences (at least
    one), and made again in the backward pass where they are more: memory grows with the length of
    the sentences, not with its square.
    """

    def __init__(self, width: int, heads: int, elements: int = 2**23) -> None:
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.elements = elements
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.relative_key = nn.Linear(width, width, bias=False)  # W_kR of all heads
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        self.content_bias = nn.Parameter(torch.zeros(heads, self.head_width))  # u
        self.relative_bias = nn.Parameter(torch.zeros(heads, self.head_width))  # v

    def forward(self, states: Tensor, relative: Tensor, pairs: SpanPairs, mask: Tensor) -> Tensor:
        """The first spans, as many as `pairs` has queries, after a look at all that are not masked.

        states (sentences, spans, width), relative (quadruples, width), mask (sentences, spans) is
        False for padding -> (sentences, queries, width)
        """
        query = self._split(self.query(states[:, : pairs.queries]))  # (sentences, queries, heads,.)
        key = self._split(self.key(states)).permute(0, 2, 3, 1)  # (sentences, heads, ., spans)
        value = self._split(self.value(states)).transpose(1, 2)  # (sentences, heads, spans, .)
        stretches = _parts(pairs.queries, mask.numel() * self.heads, self.elements)
        again = len(stretches) > 1 and torch.is_grad_enabled()  # too many to keep for backward
        attended = torch.empty_like(query)  # made first: nothing is left lying between the chunks
        for rows in stretches:
            attend = partial(self._attend, rows, pairs, mask)
            given = (query, key, value, relative)
            attended[:, rows] = (
                checkpoint(attend, *given, use_reentrant=False) if again else attend(*given)
            )
        return cast(Tensor, self.output(attended.flatten(2)))

    def _attend(
        self,
        rows: slice,
        pairs: SpanPairs,
        mask: Tensor,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        relative: Tensor,
    ) -> Tensor:
        """The queries of `rows`: (sentences, rows, heads, head width)."""
        query, index = query[:, rows], pairs.index(rows)
        content = (query + self.content_bias).transpose(1, 2)  # (sentences, heads, rows, .)
        scores = content @ key  # (sentences, heads, rows, spans)
        scores += self._position_scores(query, relative, index).transpose(1, 2)
        scores /= math.sqrt(self.head_width)
        scores.masked_fill_(~mask[:, None, None], torch.finfo(scores.dtype).min)
        return (scores.softmax(-1) @ value).transpose(1, 2)

    def _position_scores(self, query: Tensor, relative: Tensor, index: Tensor) -> Tensor:
        """(W_q x_i + v)^T W_kR R_ij: (sentences, rows, heads, spans)."""
        weights = self.relative_key.weight.view(self.heads, self.head_width, -1)
        # (sentences, rows, heads, width)
        projected = torch.einsum("sqhc,hcw->sqhw", query + self.relative_bias, weights)
        apply = cast(Callable[..., Tensor], _PairScores.apply)
        scores = apply(projected.flatten(0, 1), relative, index.flatten(0, 1))
        return scores.view(*index.shape[:2], *scores.shape[1:])

    def _split(self, states: Tensor) -> Tensor:
        return states.view(*states.shape[:-1], self.heads, self.head_width)


class _PairScores(torch.autograd.Function):
    """scores[q, h, k] = queries[q, h] . relative[index[q, k]], a few queries at a time.

    queries (rows, heads, width), relative (quadruples, width), index (rows, keys)
    -> (rows, heads, keys)
    """

    @staticmethod
    def forward(ctx: Any, queries: Tensor, relative: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(queries, relative, index)
        scores = queries.new_empty(*queries.shape[:2], index.shape[1])
        for part, rows in _gathered(relative, index):
            torch.bmm(queries[part], rows.transpose(1, 2), out=scores[part])
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        queries, relative, index = ctx.saved_tensors
        to_queries, to_relative = torch.empty_like(queries), torch.zeros_like(relative)
        for part, rows in _gathered(relative, index):
            torch.bmm(gradient[part], rows, out=to_queries[part])
            torch.bmm(gradient[part].transpose(1, 2), queries[part], out=rows)
            to_relative.index_add_(0, index[part].flatten(), rows.flatten(0, 1))
        return to_queries, to_relative, None


def _gathered(relative: Tensor, index: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """A few rows of `index` (rows, keys) and what they name in `relative`: (few, keys, width).

    All are gathered into the same memory.
    """
    keys, width = index.shape[1], relative.shape[1]
    stretches = _parts(len(index), keys * width, _GATHERED)
    memory = relative.new_empty(len(index[stretches[0]]) * keys, width)
    for part in stretches:
        chosen = index[part].flatten()
        rows = memory[: len(chosen)]
        torch.index_select(relative, 0, chosen, out=rows)
        yield part, rows.view(-1, keys, width)


def _parts(rows: int, row: int, elements: int) -> list[slice]:
    """Stretches of `rows` rows of `row` numbers each: no more than `elements`, or one row."""
    size = max(1, elements // max(1, row))
    return [slice(start, start + size) for start in range(0, rows, size)]


class LatticeLayer(nn.Module):
    """Lattice attention and a feed-forward network, each with a residual and a norm behind it."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.attention = LatticeAttention(width, heads)
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(
            nn.Linear(width, inner), nn.ReLU(), nn.Dropout(dropout), nn.Linear(inner, width)
        )
        self.feed_forward_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, relative: Tensor, pairs: SpanPairs, mask: Tensor) -> Tensor:
        """As `LatticeAttention`."""
        attended = self.dropout(self.attention(states, relative, pairs, mask))
        queries = attended.shape[1]
        states = self.attention_norm(states[:, :queries] + attended)
        return cast(
            Tensor, self.feed_forward_norm(states + self.dropout(self.feed_forward(states)))
        )
