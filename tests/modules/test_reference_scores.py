"""Which name a pronoun stands for: scores and loss against plain loops."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from factloom.modules.mention_batch import DISTANCES
from factloom.modules.reference_batch import ReferenceBatch
from factloom.modules.reference_scores import ReferenceScorer, ranking_loss, reference_states
from factloom.text.pronouns import PRONOUN_GROUPS

REFERENCES, NAMES, WIDTH = 5, 4, 6


@pytest.fixture
def batch() -> ReferenceBatch:
    """The last reference has no names at all, and of the fourth nobody knows what is meant."""
    chance = np.random.default_rng(3)
    reference = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3])
    count = len(reference)
    return ReferenceBatch(
        token_slot=np.array([0, 1, 5, 7, 8, 9, 3]),
        token_reference=np.array([0, 0, 1, 2, 3, 3, 4]),
        group=chance.integers(0, PRONOUN_GROUPS + 1, REFERENCES),
        reference=reference,
        name=np.array([0, 1, 2, 0, 3, 1, 2, 3, 0]),
        described=chance.integers(0, 2, count).astype(np.float32),
        sentence_distance=chance.integers(0, 2 * DISTANCES, count),
        name_distance=chance.integers(0, 2 * DISTANCES, count),
        right=np.array([True, False, True, False, False, False, True, False, False]),
        known=np.array([True, True, True, False, True]),
        pair_counts=(count,),
    ).to("cpu")


@torch.no_grad()
def test_scores_are_those_of_plain_loops(batch: ReferenceBatch) -> None:
    torch.manual_seed(1)
    scorer = ReferenceScorer(WIDTH, 3, 4, 0.1).double().eval()
    for weights in scorer.parameters():
        torch.nn.init.normal_(weights)
    states = torch.randn(1, 10, WIDTH).double()
    names, types = torch.randn(NAMES, WIDTH).double(), torch.tensor([0, 2, 1, 2])
    expected = []
    for pair in range(len(batch.reference)):
        r, n = int(batch.reference[pair]), int(batch.name[pair])
        slots = batch.token_slot[batch.token_reference == r]
        own = states[0, slots].mean(0) + scorer.groups.weight[batch.group[r]]
        other = names[n] + scorer.types.weight[types[n]]
        hidden = (
            scorer.left(own)
            + scorer.right(other)
            + scorer.product(own * other)
            + scorer.described.weight[:, 0] * float(batch.described[pair])
            + scorer.sentences.weight[batch.sentence_distance[pair]]
            + scorer.names.weight[batch.name_distance[pair]]
        )
        expected.append(scorer.output(hidden.relu()))
    found = scorer(reference_states(states, batch), names, types, batch)
    assert torch.allclose(found, torch.cat(expected), atol=1e-12)


def naive_losses(scores: list[float], batch: ReferenceBatch) -> list[float]:
    found = []
    for reference in range(REFERENCES):
        if not batch.known[reference]:
            continue
        pairs = [n for n, r in enumerate(batch.reference.tolist()) if r == reference]
        total = 1 + sum(math.exp(scores[pair]) for pair in pairs)
        right = sum(math.exp(scores[pair]) for pair in pairs if batch.right[pair])
        found.append(-math.log((right or 1.0) / total))
    return found


def test_the_loss_is_that_of_all_names_of_the_thing_that_is_meant(batch: ReferenceBatch) -> None:
    scores = torch.tensor([0.3, -1.0, 2.0, 0.5, -0.2, 1.0, -3.0, 0.1, 4.0], dtype=torch.float64)
    found = ranking_loss(scores, batch)
    assert found.tolist() == pytest.approx(naive_losses(scores.tolist(), batch))
    assert found[-1] == 0  # nothing else than none


def test_the_loss_has_the_gradient_of_plain_loops(batch: ReferenceBatch) -> None:
    scores = torch.randn(9, dtype=torch.float64, requires_grad=True)

    def loss(values: Tensor) -> Tensor:
        return ranking_loss(values, batch)

    assert torch.autograd.gradcheck(loss, scores)
    loss(scores).sum().backward()
    assert scores.grad is not None
    assert scores.grad[-1] == 0  # nobody knows what that reference means
    assert all(scores.grad[batch.right] < 0)


def test_very_sure_scores_have_a_finite_loss(batch: ReferenceBatch) -> None:
    scores = torch.tensor([-500.0, 500, -500, 500, 500, 500, -500, 500, 500], requires_grad=True)
    loss = ranking_loss(scores, batch).sum()
    loss.backward()
    assert loss.isfinite()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()
