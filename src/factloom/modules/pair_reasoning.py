"""Reasoning over entity pairs: DocRE-SD (Zhang et al., AAAI 2023), section 3.2.

The features of all pairs of a document form a matrix M, (entities, entities, width). A pair
(s, o) can be supported by two other pairs that share a bridge entity i, in one of four patterns
(factloom/reasoning_patterns.py), an attention head each. With
Q, K, V = W_q M, W_k M, W_v M, a head attends to the pair itself and to every bridge:

    key of bridge i    W_d [K of one premise; K of the other] + b_d
    value of bridge i  the same of V, with weights of its own
    output             softmax(Q_(s,o) . [K_(s,o); keys] / sqrt(size)) [V_(s,o); values]

Written down like this, a pair needs a key and a value a bridge: entities^3 x width numbers. But
W_d [a; b] = W_a a + W_b b, and each part depends on two of the three entities only:

    Q_(s,o) . key_i  =  Q_(s,o) . A_(s,i)  +  Q_(s,o) . B_(o,i)

Two batched products give the scores and two more the output. Nothing larger than the attention
weights, heads x entities^3, is ever laid out, and these head by head and in chunks of rows where
they are many. Documents take turns, so that none is filled up to the size of another.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from factloom.errors import ModelError
from factloom.reasoning_patterns import LEADS_TO_BRIDGE, PATTERNS

ALL = slice(None)  # heads


@dataclass(frozen=True, slots=True)
class PairMatrix:
    """Where the pairs of a batch stand in the matrices of their documents.

    Pairs are rows, without padding; only the attention lays them out as matrices. A pair that
    is not listed (an entity with itself, padding, no candidate) is absent: it supports nothing.
    """

    document: Tensor  # (pairs,)
    head: Tensor  # (pairs,) entity, counted from 0 in each document
    tail: Tensor  # (pairs,)
    documents: int
    entities: int  # of the document with most

    @property
    def slot(self) -> Tensor:
        """(pairs,) in documents x heads x tails, laid flat."""
        return (self.document * self.entities + self.head) * self.entities + self.tail

    @property
    def turned(self) -> Self:
        """The matrix with head and tail exchanged."""
        return type(self)(self.document, self.tail, self.head, self.documents, self.entities)

    def each(self) -> Iterator[tuple[Tensor, Self]]:
        """Document by document: which pairs are its own, and its own matrix."""
        for number in range(self.documents):
            rows = (self.document == number).nonzero().squeeze(1)
            if len(rows):
                head, tail = self.head[rows], self.tail[rows]
                entities = 1 + int(torch.maximum(head, tail).max())
                yield rows, type(self)(torch.zeros_like(head), head, tail, 1, entities)


def both_premises(
    patterns: Sequence[int], given: Tensor, matrix: PairMatrix, chosen: Tensor
) -> Tensor:
    """Through which bridges a chosen pair has both premises among the `given` pairs, bool (pairs,).

    bool (chosen, patterns, entities)
    """
    size = (matrix.documents, matrix.entities, matrix.entities)
    known = given.new_zeros(size).view(-1).index_copy(0, matrix.slot, given).view(size)
    document, ends = matrix.document[chosen], (matrix.head[chosen], matrix.tail[chosen])
    joined = []
    for pattern in patterns:
        leading = zip(ends, LEADS_TO_BRIDGE[pattern], strict=True)
        near, far = (
            known[document, end] if leads else known[document, :, end] for end, leads in leading
        )
        joined.append(near & far)  # (chosen, entities)
    return torch.stack(joined, 1)


class ReasoningAttention(nn.Module):
    """R-MSA. Heads of patterns that are left out (ablation) are missing, the others stay as large.

    `elements` bounds the attention weights that are in memory at once; where the pairs alone are
    more numbers than that, heads take turns. Without gradients they do so from a sixteenth of it
    on: nothing is made twice, and what one head needs stays in the processor's cache.
    """

    def __init__(
        self, width: int, patterns: Sequence[int] = PATTERNS, elements: int = 2**24
    ) -> None:
        super().__init__()
        if width % len(PATTERNS):
            raise ModelError("indivisible-width", width=width, parts=len(PATTERNS), of="heads")
        self.patterns = tuple(patterns)
        self.elements = elements
        heads, size = len(self.patterns), width // len(PATTERNS)
        self.query = nn.Linear(width, heads * size)
        self.key = nn.Linear(width, heads * size)
        self.value = nn.Linear(width, heads * size)
        self.key_premises = _Premises(heads, size)
        self.value_premises = _Premises(heads, size)
        self.output = nn.Linear(heads * size, width)

    def forward(self, pairs: Tensor, matrix: PairMatrix) -> Tensor:
        """(pairs, width) -> (pairs, width)"""
        if not len(pairs):
            return pairs
        in_turn = self._document if matrix.documents == 1 else self._documents
        output: Tensor = self.output(in_turn(pairs, matrix))
        return output

    def _documents(self, pairs: Tensor, matrix: PairMatrix) -> Tensor:
        """What all heads give, one document after the other: (pairs, heads x size)"""
        joined = pairs.new_zeros(len(pairs), self.output.in_features)
        for rows, own in matrix.each():
            joined.index_copy_(0, rows, self._document(pairs.index_select(0, rows), own))
        return joined

    def _document(self, pairs: Tensor, matrix: PairMatrix) -> Tensor:
        """What all heads give to the pairs of one document: (pairs, heads x size)"""
        if pairs.numel() <= (self.elements if torch.is_grad_enabled() else self.elements // 16):
            return self._heads(pairs, matrix, ALL)
        return torch.cat(list(self._one_by_one(pairs, matrix)), 1)

    def _one_by_one(self, pairs: Tensor, matrix: PairMatrix) -> Iterator[Tensor]:
        """(pairs, size) of each head; what it needs on the way is made again for its gradients."""
        for number in range(len(self.patterns)):
            head = slice(number, number + 1)
            if torch.is_grad_enabled():
                yield checkpoint(self._heads, pairs, matrix, head, use_reentrant=False)
            else:
                yield self._heads(pairs, matrix, head)

    def weights(self, pairs: Tensor, matrix: PairMatrix, chosen: Tensor) -> Tensor:
        """Where chosen pairs look: (chosen, heads, 1 + entities), first at the pair itself."""
        weights = pairs.new_zeros(len(chosen), len(self.patterns), 1 + matrix.entities)
        for rows, own in matrix.each():
            asked = torch.isin(chosen, rows).nonzero().squeeze(1)  # of this document
            if len(asked):
                places = torch.searchsorted(rows, chosen[asked])
                found = self._weights(pairs.index_select(0, rows), own, places)
                weights[asked, :, : found.shape[2]] = found
        return weights

    def _weights(self, pairs: Tensor, matrix: PairMatrix, chosen: Tensor) -> Tensor:
        """Where chosen pairs of one document look: (chosen, heads, 1 + entities)"""
        query, key = self._query(pairs, ALL), self._projected(self.key, pairs, ALL)
        own = (query * key).sum(-1)  # (pairs, heads)
        near, far = self._bridges(self.key_premises, key, matrix, ALL)
        near_mask, far_mask = self._masks(pairs, matrix, ALL)
        laid_out = len(self.patterns) * matrix.entities * query.shape[-1]  # for each chosen pair
        weights = []
        for part in chosen.split(max(1, self.elements // laid_out)):
            head, tail = matrix.head[part], matrix.tail[part]
            keys = near[:, head] + far[:, tail]  # (heads, part, entities, size)
            scores = (keys @ query[part].transpose(0, 1).unsqueeze(-1)).squeeze(-1)
            scores = scores + near_mask[:, head] + far_mask[:, tail]
            scores = torch.cat([own[part].t().unsqueeze(-1), scores], -1)
            weights.append(scores.softmax(-1).transpose(0, 1))
        return torch.cat(weights)

    def _heads(self, pairs: Tensor, matrix: PairMatrix, heads: slice) -> Tensor:
        """What some heads give: (pairs, heads x size)"""
        value = self._projected(self.value, pairs, heads)
        attended, own_weight = self._attended(self._parts(pairs, value, matrix, heads))
        rows = attended.flatten(1, 2).index_select(1, matrix.slot)  # (heads, pairs, size)
        own_rows = own_weight.flatten(1).index_select(1, matrix.slot)  # (heads, pairs)
        return (rows.transpose(0, 1) + own_rows.t().unsqueeze(-1) * value).flatten(1)

    def _parts(
        self, pairs: Tensor, value: Tensor, matrix: PairMatrix, heads: slice
    ) -> tuple[Tensor, ...]:
        """What `_attend` takes: the pairs as matrices, head by head."""
        query, key = self._query(pairs, heads), self._projected(self.key, pairs, heads)
        own = (query * key).sum(-1, keepdim=True)  # (pairs, heads, 1)
        return (
            self._laid_out(query, matrix),
            self._laid_out(own, matrix).squeeze(-1),
            *self._bridges(self.key_premises, key, matrix, heads),
            *self._bridges(self.value_premises, value, matrix, heads),
            *self._masks(pairs, matrix, heads),
        )

    def _query(self, pairs: Tensor, heads: slice) -> Tensor:
        """(pairs, heads, size), scaled"""
        query = self._projected(self.query, pairs, heads)
        scaled: Tensor = query * query.shape[-1] ** -0.5
        return scaled

    def _projected(self, projection: nn.Linear, pairs: Tensor, heads: slice) -> Tensor:
        """(pairs, heads, size)"""
        shape = (len(self.patterns), -1)
        weight, bias = (
            of_all.unflatten(0, shape)[heads].flatten(0, 1)
            for of_all in (projection.weight, projection.bias)
        )
        projected: Tensor = F.linear(pairs, weight, bias)
        return cast(Tensor, projected.unflatten(1, (len(self.patterns[heads]), -1)))

    def _bridges(
        self, premises: "_Premises", rows: Tensor, matrix: PairMatrix, heads: slice
    ) -> tuple[Tensor, Tensor]:
        """What the premise of s (near) and that of o (far) add to keys or values.

        (pairs, heads, size) -> (heads, end of the pair, bridge, size), twice
        """
        near, far = premises(rows, heads)
        near_turns, far_turns = self._turns(heads)
        return self._laid_out(near, matrix, near_turns), self._laid_out(far, matrix, far_turns)

    def _masks(self, pairs: Tensor, matrix: PairMatrix, heads: slice) -> tuple[Tensor, Tensor]:
        """0 where the premise is there, minus infinity where it is absent.

        (heads, end of the pair, bridge), twice
        """
        there = pairs.new_zeros(len(pairs), len(self.patterns[heads]), 1)
        near, far = (
            self._laid_out(there, matrix, turns, fill=-torch.inf).squeeze(-1)
            for turns in self._turns(heads)
        )
        return near, far

    def _turns(self, heads: slice) -> tuple[list[bool], list[bool]]:
        """Heads whose premise with s, and with o, leads from the bridge to it."""
        near, far = (
            [not LEADS_TO_BRIDGE[pattern][end] for pattern in self.patterns[heads]]
            for end in (0, 1)
        )
        return near, far

    def _laid_out(
        self,
        rows: Tensor,
        matrix: PairMatrix,
        turns: Sequence[bool] = (),
        fill: float = 0.0,
    ) -> Tensor:
        """(pairs, heads, size) -> (heads, entities, entities, size).

        Heads with a turn get head and tail exchanged; `fill` is for absent pairs.
        """
        heads, count = rows.shape[1], matrix.entities
        straight, turned = matrix.slot, matrix.turned.slot
        slots = torch.stack([turned if turn else straight for turn in turns or [False] * heads])
        firsts = torch.arange(heads, device=rows.device) * count**2
        flat = rows.new_full((heads * count**2, rows.shape[2]), fill)
        filled = flat.index_copy_(
            0, (slots + firsts[:, None]).flatten(), rows.transpose(0, 1).flatten(0, 1)
        )
        return filled.view(heads, count, count, -1)

    def _attended(self, parts: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        """The heads' outputs, without the part of the pair itself, and that part's weight."""
        heads, count = parts[0].shape[:2]
        rows = max(1, self.elements // (heads * count**2))
        again = rows < count and torch.is_grad_enabled()  # too many to keep for the backward pass
        chunks = []
        for start in range(0, count, rows):
            attend = partial(_attend, slice(start, start + rows))
            chunks.append(
                checkpoint(attend, *parts, use_reentrant=False) if again else attend(*parts)
            )
        outputs, own_weights = zip(*chunks, strict=True)
        return torch.cat(outputs, 1), torch.cat(own_weights, 1)


class _Premises(nn.Module):
    """W_d, head by head: the part of the premise with s (and the bias), the part of that with o."""

    def __init__(self, heads: int, size: int) -> None:
        super().__init__()
        bound = (2 * size) ** -0.5  # as `nn.Linear` over the concatenation
        self.near = nn.Parameter(torch.empty(heads, size, size).uniform_(-bound, bound))
        self.far = nn.Parameter(torch.empty(heads, size, size).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(heads, 1, size).uniform_(-bound, bound))

    def forward(self, rows: Tensor, heads: slice) -> tuple[Tensor, Tensor]:
        """(pairs, heads, size) -> the same shape, twice."""
        by_head = rows.transpose(0, 1)  # (heads, pairs, size)
        near = torch.baddbmm(self.bias[heads], by_head, self.near[heads])
        return near.transpose(0, 1), (by_head @ self.far[heads]).transpose(0, 1)


def _attend(
    rows: slice,
    query: Tensor,
    own: Tensor,
    near_key: Tensor,
    far_key: Tensor,
    near_value: Tensor,
    far_value: Tensor,
    near_mask: Tensor,
    far_mask: Tensor,
) -> tuple[Tensor, Tensor]:
    """The attention of the pairs whose s is in `rows`.

    near_... belong to s and the bridge, far_... to o and the bridge.
    """
    query = query[:, rows]  # (heads, s, o, size)
    scores = query @ near_key[:, rows].mT  # (heads, s, o, bridges)
    scores = scores + (query.transpose(1, 2) @ far_key.mT).transpose(1, 2)
    scores = scores + near_mask[:, rows, None] + far_mask[:, None]
    weights = torch.cat([own[:, rows].unsqueeze(-1), scores], -1).softmax(-1)
    bridges = weights[..., 1:]
    output = bridges @ near_value[:, rows]  # (heads, s, o, size)
    output = output + (bridges.transpose(1, 2) @ far_value).transpose(1, 2)
    return output, weights[..., 0]
