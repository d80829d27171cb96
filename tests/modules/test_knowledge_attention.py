"""Knowledge attention against a plain loop, and its edges."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from factloom.modules.knowledge_attention import (
    NULL,
    KnowledgeAttention,
    Offer,
    SpanCandidates,
    linking_loss,
    margin_loss,
)
from factloom.modules.text_spans import TextSpans

WIDTH, ENTITY = 12, 8
SIGNS = (-0.7, 0.3)


def layer(threshold: float = 0.0) -> KnowledgeAttention:
    torch.manual_seed(0)
    return KnowledgeAttention(
        WIDTH, ENTITY, signs=SIGNS, hidden=5, heads=2, threshold=threshold
    ).eval()


def learned(layer: KnowledgeAttention) -> KnowledgeAttention:
    """No part of the score is small any more."""
    with torch.no_grad():
        layer.scorer[-1].weight.normal_()
        layer.scorer[-1].bias.normal_()
        layer.sign_weight.normal_()
    return layer


def known() -> SpanCandidates:
    """Three texts, the second one without spans; the third span has no candidate at all."""
    torch.manual_seed(1)
    spans = TextSpans(
        torch.tensor([0, 0, 2, 2]), torch.tensor([0, 2, 1, 3]), torch.tensor([1, 2, 3, 3])
    )
    mask = torch.tensor([[1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 0]]).bool()
    priors, nothing = torch.rand(4, 3) * 0.3 + 0.01, torch.tensor([0.2, 0.9, 1.0, 0.4])
    signs = (torch.rand(4, 3, len(SIGNS)) < 0.5).float()
    return SpanCandidates(spans, torch.randn(4, 3, ENTITY) * 3, priors, signs, nothing, mask)


def by_loops(layer: KnowledgeAttention, states: Tensor, known: SpanCandidates) -> Tensor:
    """The formulas of the file, text by text and span by span."""
    found = states.clone()
    for text in range(len(states)):
        numbers = [n for n in range(len(known.spans)) if int(known.spans.text[n]) == text]
        if not numbers:
            continue
        projected = states[text] @ layer.down.weight.T + layer.down.bias
        pooled = []
        for n in numbers:
            tokens = projected[int(known.spans.first[n]) : int(known.spans.last[n]) + 1]
            weight = torch.softmax(tokens @ layer.token_weight.weight[0], 0)
            pooled.append(sum(w * t for w, t in zip(weight, tokens, strict=True)))
        aware = layer.between_spans(torch.stack(pooled)[None])[0]
        enhanced = []
        for span, n in zip(aware, numbers, strict=True):
            above = []
            for k in range(known.mask.shape[1]):
                dot = span @ known.vectors[n, k] / math.sqrt(ENTITY)
                prior, nothing = known.priors[n, k], known.nothing[n]
                score = torch.log(prior / nothing)
                for sign, weight in zip(known.signs[n, k], layer.sign_weight, strict=True):
                    score = score + sign * weight
                features = [prior, nothing, dot, *known.signs[n, k]]
                score = score + layer.scorer(torch.stack(features))[0]
                if known.mask[n, k] and score > layer.threshold:
                    above.append((score.exp(), known.vectors[n, k]))
            total = sum(weight for weight, _ in above)
            entity = sum(w / total * v for w, v in above) if above else layer.null
            enhanced.append(span + entity)
        spans = torch.stack(enhanced)[None]
        read, _ = layer.reading(projected[None], spans, spans)
        found[text] = states[text] + layer.up(layer.mixing(read))[0]
    return found


@pytest.mark.parametrize("threshold", [-5.0, 0.0, 0.2, 5.0])
def test_the_layer_is_the_loop(threshold: float) -> None:
    with torch.no_grad():
        kar, states = learned(layer(threshold)), torch.randn(3, 5, WIDTH)
        enhanced, scores = kar(states, known())
        torch.testing.assert_close(enhanced, by_loops(kar, states, known()))
        assert torch.equal(enhanced[1], states[1])  # without spans
        assert torch.equal(scores.isfinite(), known().mask)
        torch.testing.assert_close(scores, kar.link(states, known()))


def test_choices_begin_as_the_priors() -> None:
    given = known()
    with torch.no_grad():
        scores = layer().link(torch.randn(3, 5, WIDTH), given)
        shares = torch.cat([scores.new_zeros(4, 1), scores], 1).softmax(1)  # NULL first
    for n in range(4):
        weights = [float(given.nothing[n])]
        for k in range(3):
            factor = math.exp(
                sum(w * float(g) for w, g in zip(SIGNS, given.signs[n, k], strict=True))
            )
            weights.append(float(given.priors[n, k]) * factor * bool(given.mask[n, k]))
        expected = [weight / sum(weights) for weight in weights]
        assert shares[n].tolist() == pytest.approx(expected, abs=0.01)


def test_offers_are_laid_out_span_by_span() -> None:
    none = torch.zeros(2, dtype=torch.long)
    table = np.array([[0.6, 0.8], [1.0, 0.0], [0.0, 1.0]], np.float32)
    offers = [
        Offer(np.array([2]), np.array([0.3], np.float32), np.ones((1, 1), np.float32), 0.7),
        Offer(np.array([0, 1]), np.array([0.5, 0.2], np.float32), np.zeros((2, 1), "f"), 0.4),
    ]
    found = SpanCandidates.of(TextSpans(none, none, none), table, offers, 1)
    assert found.mask.tolist() == [[True, False], [True, True]]
    assert found.nothing.tolist() == pytest.approx([0.7, 0.4])
    assert found.priors[found.mask].tolist() == pytest.approx([0.3, 0.5, 0.2])
    assert found.signs[found.mask].flatten().tolist() == [1, 0, 0]
    expected = torch.from_numpy(table[[2, 0, 1]]) * math.sqrt(2)
    torch.testing.assert_close(found.vectors[found.mask], expected)
    assert torch.isfinite(found.priors.log()).all()  # also where no candidate is


def test_the_way_back_begins_as_the_pseudo_inverse() -> None:
    kar = layer()
    inside = torch.randn(4, ENTITY)  # what W1 gives, W2 takes back to what gives it again
    torch.testing.assert_close(kar.down(kar.up(inside)), inside, atol=1e-4, rtol=1e-4)
    square = KnowledgeAttention(ENTITY, ENTITY, heads=2)
    states = torch.randn(3, ENTITY)
    torch.testing.assert_close(square.down(states), states)  # as wide: nothing is changed yet
    torch.testing.assert_close(square.up(square.down(states)), states)


def test_every_part_gets_a_finite_gradient() -> None:
    kar = layer().train()
    enhanced, scores = kar(torch.randn(3, 5, WIDTH), known())
    gold = torch.tensor([2, NULL, NULL, 0])
    (enhanced.square().sum() + linking_loss(scores, gold, kar.threshold).sum()).backward()
    for name, weights in kar.named_parameters():
        assert weights.grad is not None, name
        assert weights.grad.isfinite().all(), name
        assert weights.grad.abs().sum() > 0, name


def test_nothing_known_leaves_texts_as_they_are() -> None:
    none = torch.zeros(0, dtype=torch.long)
    empty = SpanCandidates(
        TextSpans(none, none, none),
        torch.zeros(0, 0, ENTITY),
        torch.zeros(0, 0),
        torch.zeros(0, 0, len(SIGNS)),
        torch.zeros(0),
        torch.zeros(0, 0, dtype=torch.bool),
    )
    states = torch.randn(2, 4, WIDTH)
    assert torch.equal(layer()(states, empty)[0], states)


def test_mentions_without_any_candidate_read_null() -> None:
    spans = TextSpans(torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))
    nothing = torch.zeros(1, 0)
    vectors, signs = torch.zeros(1, 0, ENTITY), torch.zeros(1, 0, len(SIGNS))
    bare = SpanCandidates(spans, vectors, nothing, signs, torch.ones(1), nothing.bool())
    with torch.no_grad():
        kar, states = layer(), torch.randn(1, 4, WIDTH)
        enhanced, scores = kar(states, bare)
        assert scores.shape == (1, 0)
        assert torch.equal(kar.entities(scores, bare)[0], kar.null)
        torch.testing.assert_close(enhanced, by_loops(kar, states, bare))


def test_both_losses_are_their_formulas() -> None:
    scores = torch.tensor([[0.3, -0.1, -torch.inf], [0.05, 0.4, 2.0]])
    delta, gamma = 0.1, 0.2
    for gold in (torch.tensor([0, 2]), torch.tensor([NULL, NULL]), torch.tensor([1, NULL])):
        likelihood, margin = [], []
        for row, right in zip(scores.tolist(), gold.tolist(), strict=True):
            total = math.exp(delta) + sum(map(math.exp, row))
            likelihood.append(math.log(total) - (delta if right == NULL else row[right]))
            margin.append(
                sum(
                    max(0, gamma + (delta - score if k == right else score - delta))
                    for k, score in enumerate(row)
                )
            )
        assert linking_loss(scores, gold, delta).tolist() == pytest.approx(likelihood)
        assert margin_loss(scores, gold, delta, gamma).tolist() == pytest.approx(margin)
