"""Span scores in their factored form, and candidates found without a table of all pairs."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from factloom.modules.span_scores import SpanScores, candidate_spans

WORDS, INPUTS, WIDTH = 7, 6, 5


@pytest.fixture
def scores() -> SpanScores:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return SpanScores(INPUTS, WIDTH).double()


def states(seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(WORDS, INPUTS, generator=generator, dtype=torch.float64)


def gelu(number: float) -> float:
    return number * 0.5 * (1 + math.erf(number / math.sqrt(2)))


def weighted(weights: list[float], numbers: list[float]) -> float:
    return sum(weight * number for weight, number in zip(weights, numbers, strict=True))


def test_spans_equal_one_layer_over_the_joined_states(scores: SpanScores) -> None:
    first, last = states(2), states(3)
    spans = torch.tensor([[i, j] for i in range(WORDS) for j in range(i, WORDS)][::2])
    found = scores(first, last, spans).tolist()
    scores.requires_grad_(False)
    joined_weights = torch.cat([scores.first_part.weight, scores.last_part.weight], 1).tolist()
    bias = scores.first_part.bias.tolist()
    outer, constant = scores.span.weight[0].tolist(), float(scores.span.bias)
    for (i, j), logit in zip(spans.tolist(), found, strict=True):
        joined = first[i].tolist() + last[j].tolist()
        hidden = [
            gelu(weighted(row, joined) + b) for row, b in zip(joined_weights, bias, strict=True)
        ]
        assert logit == pytest.approx(weighted(outer, hidden) + constant, rel=1e-9)


def test_starts_are_read_from_first_and_ends_from_last_states(scores: SpanScores) -> None:
    first, last = states(2), states(3)
    scores.requires_grad_(False)
    starts, ends = scores.edges(first, last).unbind(1)
    for word in range(WORDS):
        expected = weighted(scores.start.weight[0].tolist(), first[word].tolist())
        assert float(starts[word]) == pytest.approx(expected + float(scores.start.bias))
        expected = weighted(scores.end.weight[0].tolist(), last[word].tolist())
        assert float(ends[word]) == pytest.approx(expected + float(scores.end.bias))


def test_an_untrained_network_takes_few_words_for_edges() -> None:
    logits = SpanScores(INPUTS, WIDTH).double().edges(0.1 * states(2), 0.1 * states(3))
    assert bool((logits.sigmoid() < 0.1).all())


def test_divergence_is_that_of_each_words_start_and_end_on_their_own(scores: SpanScores) -> None:
    target, logits = states(2)[:, :2], states(3)[:, :2]
    for word, divergence in enumerate(scores.divergence(target, logits).tolist()):
        expected = 0.0
        for side in (0, 1):
            p, q = (1 / (1 + math.exp(-float(from_[word, side]))) for from_ in (target, logits))
            expected += p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
        assert divergence == pytest.approx(expected, rel=1e-9)


def test_no_spans_have_no_scores(scores: SpanScores) -> None:
    assert scores(states(2), states(3), torch.zeros(0, 2, dtype=torch.long)).shape == (0,)


def test_gradients_of_span_scores_are_right_by_finite_differences(scores: SpanScores) -> None:
    first, last = states(2).requires_grad_(), states(3).requires_grad_()
    spans = torch.tensor([[0, 3], [0, 4], [2, 3], [6, 6]])
    assert torch.autograd.gradcheck(lambda *inputs: scores(*inputs, spans), (first, last))


@given(st.data())
def test_candidates_are_those_of_a_loop_over_all_pairs(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 25))
    flags = st.lists(st.booleans(), min_size=count, max_size=count)
    starts, ends = data.draw(flags), data.draw(flags)
    limit = [data.draw(st.integers(word + 1, count)) for word in range(count)]
    edges = torch.tensor([starts, ends], dtype=torch.bool).reshape(2, count).t()
    found = candidate_spans(edges, torch.tensor(limit, dtype=torch.long))
    expected = [
        [i, j]
        for i in range(count)
        for j in range(i, count)
        if starts[i] and ends[j] and j < limit[i]
    ]
    assert found.tolist() == expected
    assert found.shape == (len(expected), 2)


def test_candidates_of_a_long_row_cost_what_is_found_and_not_its_square() -> None:
    """A table of all pairs would need 10^12 bytes."""
    count = 1_000_000
    edges = torch.zeros(count, 2, dtype=torch.bool)
    edges[[5, 700_000], 0] = True
    edges[[7, 9, 700_000], 1] = True
    limit = (torch.arange(count) + 3).clamp(max=count)
    assert candidate_spans(edges, limit).tolist() == [[5, 7], [700_000, 700_000]]
