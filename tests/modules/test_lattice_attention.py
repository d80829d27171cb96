"""FLAT's attention against the formula written out pair by pair in double precision."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from factloom.modules import lattice_attention
from factloom.modules.lattice_attention import (
    LatticeAttention,
    LatticeLayer,
    RelativeSpans,
    SpanPairs,
    sinusoids,
    span_pairs,
)

WIDTH, HEADS = 12, 3
ALL = slice(None)

# Two sentences: characters and behind them words (first and last character); both are padded.
CHARACTERS, LENGTHS = 6, (6, 4)
WORDS = (((0, 1), (0, 2), (2, 3), (3, 5)), ((1, 2), (2, 3), (0, 0), (0, 0)))
WORD_COUNTS = (4, 2)


def lattice() -> tuple[Tensor, Tensor, Tensor]:
    """heads, tails and mask, each (2, 10)."""
    spans = [[(c, c) for c in range(CHARACTERS)] + list(words) for words in WORDS]
    positions = torch.tensor(spans)  # (2, 10, 2)
    mask = torch.tensor(
        [
            [c < length for c in range(CHARACTERS)] + [w < count for w in range(4)]
            for length, count in zip(LENGTHS, WORD_COUNTS, strict=True)
        ]
    )
    return positions[..., 0], positions[..., 1], mask


def random_weights(module: torch.nn.Module) -> None:
    for weights in module.parameters():
        torch.nn.init.normal_(weights, std=0.4)


@pytest.fixture
def parts() -> tuple[RelativeSpans, LatticeAttention, Tensor]:
    torch.manual_seed(3)
    relative = RelativeSpans(WIDTH).double()
    attention = LatticeAttention(WIDTH, HEADS).double()
    random_weights(relative)
    random_weights(attention)
    return relative, attention, torch.randn(2, 10, WIDTH, dtype=torch.float64, requires_grad=True)


def embedding(distance: int) -> Tensor:
    values = []
    for k in range(WIDTH // 2):
        angle = distance / 10000 ** (2 * k / WIDTH)
        values += [math.sin(angle), math.cos(angle)]
    return torch.tensor(values, dtype=torch.float64)


def attention_by_pairs(
    relative: RelativeSpans,
    attention: LatticeAttention,
    states: Tensor,
    heads: Tensor,
    tails: Tensor,
    mask: Tensor,
) -> Tensor:
    """A*_ij for one pair of spans after the other: (sentences, spans, width)."""
    size = WIDTH // HEADS
    rows = []
    for x, head, tail, inside in zip(states, heads.tolist(), tails.tolist(), mask, strict=True):
        for i in range(len(x)):
            joined = []
            for part in range(HEADS):
                cut = slice(part * size, (part + 1) * size)
                query = attention.query.weight[cut] @ x[i]
                scores = []
                for j in range(len(x)):
                    distances = (
                        head[i] - head[j],
                        tail[i] - head[j],
                        head[i] - tail[j],
                        tail[i] - tail[j],
                    )
                    p = torch.cat([embedding(distance) for distance in distances])
                    r = (relative.projection.weight @ p).relu()
                    key = attention.key.weight[cut] @ x[j]
                    relative_key = attention.relative_key.weight[cut] @ r
                    score = (query + attention.content_bias[part]) @ key
                    score = score + (query + attention.relative_bias[part]) @ relative_key
                    scores.append(score / math.sqrt(size) if inside[j] else torch.tensor(-1e300))
                weights = torch.stack(scores).softmax(0)
                values = torch.stack([attention.value(x[j])[cut] for j in range(len(x))])
                joined.append(weights @ values)
            rows.append(attention.output(torch.cat(joined)))
    return torch.stack(rows).view_as(states)


def test_attention_and_its_gradients_equal_the_formula_for_every_pair(
    parts: tuple[RelativeSpans, LatticeAttention, Tensor],
) -> None:
    relative, attention, states = parts
    heads, tails, mask = lattice()
    pairs = span_pairs(heads, tails)
    weights = [*relative.parameters(), *attention.parameters(), states]
    found = attention(states, relative(pairs.distances), pairs, mask)
    expected = attention_by_pairs(relative, attention, states, heads, tails, mask)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    direction = torch.randn_like(found)
    gradients = torch.autograd.grad((found * direction).sum(), weights)
    by_pairs = torch.autograd.grad((expected * direction).sum(), weights)
    for gradient, other in zip(gradients, by_pairs, strict=True):
        assert other.abs().max() > 1e-6
        torch.testing.assert_close(gradient, other, rtol=1e-9, atol=1e-12)


def test_the_first_spans_alone_come_out_as_among_all(
    parts: tuple[RelativeSpans, LatticeAttention, Tensor],
) -> None:
    relative, attention, states = parts
    heads, tails, mask = lattice()
    pairs = span_pairs(heads, tails)
    rows = relative(pairs.distances)
    whole = attention(states, rows, pairs, mask)
    first = attention(states, rows, pairs.of_first(CHARACTERS), mask)
    torch.testing.assert_close(first, whole[:, :CHARACTERS])


def test_gathering_in_parts_changes_nothing(
    parts: tuple[RelativeSpans, LatticeAttention, Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    relative, attention, states = parts
    heads, tails, mask = lattice()
    pairs = span_pairs(heads, tails)

    def run() -> tuple[Tensor, ...]:
        found = attention(states, relative(pairs.distances), pairs, mask)
        return found, *torch.autograd.grad(found.square().sum(), [*relative.parameters(), states])

    whole = run()
    for size in (1, 10 * WIDTH * 3):  # one query at a time, and three
        monkeypatch.setattr(lattice_attention, "_GATHERED", size)
        for found, expected in zip(run(), whole, strict=True):
            torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("queries", [1, 4, 9])
def test_chunks_of_queries_change_neither_output_nor_gradients(
    parts: tuple[RelativeSpans, LatticeAttention, Tensor], queries: int
) -> None:
    relative, attention, states = parts
    heads, tails, mask = lattice()
    pairs = span_pairs(heads, tails)
    weights = [*relative.parameters(), *attention.parameters(), states]
    direction = torch.randn_like(states)

    def run() -> tuple[Tensor, ...]:
        found = attention(states, relative(pairs.distances), pairs, mask)
        return found, *torch.autograd.grad((found * direction).sum(), weights)

    whole = run()
    attention.elements = queries * mask.numel() * HEADS
    for found, expected in zip(run(), whole, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


class LargestTensor(TorchDispatchMode):
    """Notes how many numbers the largest tensor has that is made inside."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        for made in found if isinstance(found, list | tuple) else [found]:
            if isinstance(made, Tensor):
                self.numbers = max(self.numbers, made.numel())
        return found


@pytest.mark.parametrize("learning", [False, True])
def test_a_sentence_twice_as_long_makes_tensors_at_most_twice_as_large(learning: bool) -> None:
    relative, attention = RelativeSpans(WIDTH), LatticeAttention(WIDTH, HEADS, elements=2**12)

    def largest(length: int) -> int:
        positions = torch.arange(length).expand(1, -1)
        states = torch.randn(1, length, WIDTH)
        with LargestTensor() as made, torch.set_grad_enabled(learning):
            pairs = span_pairs(positions, positions, elements=2**12)
            mask = torch.ones(1, length, dtype=torch.bool)
            found = attention(states, relative(pairs.distances), pairs, mask)
            if learning:
                found.sum().backward()
        return made.numbers

    short = largest(400)
    assert short < 400**2
    assert largest(800) <= 2 * short


def test_padding_is_not_seen_and_takes_no_gradient(
    parts: tuple[RelativeSpans, LatticeAttention, Tensor],
) -> None:
    relative, attention, states = parts
    heads, tails, mask = lattice()
    pairs = span_pairs(heads, tails)

    def outputs(x: Tensor) -> Tensor:
        return attention(x, relative(pairs.distances), pairs, mask)[mask]

    other = states.detach().clone()
    other[~mask] = 100.0
    torch.testing.assert_close(outputs(other), outputs(states))
    gradient = torch.autograd.grad(outputs(states).sum(), states)[0]
    assert not gradient[~mask].any()
    assert gradient[mask].abs().min() > 0


def test_a_sentence_comes_out_of_a_batch_as_alone() -> None:
    torch.manual_seed(4)
    relative, layer = RelativeSpans(WIDTH).double(), LatticeLayer(WIDTH, HEADS, 16, 0.3).double()
    layer.eval()
    states = torch.randn(2, 10, WIDTH, dtype=torch.float64)
    heads, tails, mask = lattice()
    pairs = span_pairs(heads, tails)
    together = layer(states, relative(pairs.distances), pairs, mask)
    kept = mask[1].nonzero().flatten()
    alone = span_pairs(heads[1:, kept], tails[1:, kept])
    found = layer(states[1:, kept], relative(alone.distances), alone, mask[1:, kept])
    torch.testing.assert_close(found[0], together[1, kept])


# --- distances -------------------------------------------------------------------------------

spans = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5)), min_size=1, max_size=8)


def quadruples(pairs: SpanPairs) -> list[list[list[list[int]]]]:
    """(sentences, queries, spans, 4)"""
    found: list[list[list[list[int]]]] = pairs.distances[pairs.index(ALL)].tolist()
    return found


@given(st.lists(spans, min_size=1, max_size=3))
def test_every_pair_has_its_four_distances_and_no_quadruple_stands_twice(
    sentences: list[list[tuple[int, int]]],
) -> None:
    most = max(map(len, sentences))
    padded = [found + [(0, 0)] * (most - len(found)) for found in sentences]
    heads = torch.tensor([[head for head, _ in found] for found in padded])
    tails = torch.tensor([[head + length for head, length in found] for found in padded])
    pairs = span_pairs(heads, tails)
    expected = [
        [[[h - a, t - a, h - b, t - b] for a, b in zip(hs, ts, strict=True)] for h, t in rows]
        for hs, ts in zip(heads.tolist(), tails.tolist(), strict=True)
        for rows in [list(zip(hs, ts, strict=True))]
    ]
    assert quadruples(pairs) == expected
    rows = pairs.distances.tolist()
    assert len({tuple(row) for row in rows}) == len(rows)
    assert set(pairs.index(ALL).flatten().tolist()) == set(range(len(rows)))
    for elements in (1, 2 * most * len(padded)):  # one query at a time, and two
        in_parts = span_pairs(heads, tails, elements=elements)
        assert torch.equal(in_parts.distances, pairs.distances)
        assert torch.equal(in_parts.index(ALL), pairs.index(ALL))


def test_pairs_of_the_first_spans_have_no_quadruple_of_the_others() -> None:
    heads, tails, _ = lattice()
    pairs = span_pairs(heads, tails, CHARACTERS)
    assert quadruples(pairs) == quadruples(span_pairs(heads, tails).of_first(CHARACTERS))
    assert set(pairs.index(ALL).flatten().tolist()) == set(range(len(pairs.distances)))


def test_characters_alone_have_a_quadruple_for_each_offset() -> None:
    positions = torch.arange(40).expand(3, -1)
    assert len(span_pairs(positions, positions).distances) == 79


def test_an_odd_width_has_sinusoids_too() -> None:
    found = sinusoids(torch.tensor([-3, 0, 2]), 5)
    assert found.shape == (3, 5)
    assert found[1].tolist() == [0, 1, 0, 1, 0]
    assert found[2, 0] == pytest.approx(math.sin(2))
    assert found[0, 3] == pytest.approx(math.cos(3 / 10000 ** (2 / 5)))
