"""Softmax a word, against plain loops."""

import math

import pytest
import torch

from factloom.modules.independent_tags import IndependentTags
from factloom.text.tags import UNKNOWN

LENGTHS = torch.tensor([3, 1])


@pytest.fixture
def emissions() -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    return torch.randn(2, 3, 4, generator=generator, dtype=torch.float64)


def probabilities(row: torch.Tensor) -> list[float]:
    weights = [math.exp(number) for number in row.tolist()]
    return [weight / sum(weights) for weight in weights]


def test_likelihood_is_the_sum_over_words(emissions: torch.Tensor) -> None:
    tags = torch.tensor([[0, 3, 1], [2, 1, 1]])
    expected = [
        sum(math.log(probabilities(emissions[0, word])[tag]) for word, tag in enumerate([0, 3, 1])),
        math.log(probabilities(emissions[1, 0])[2]),
    ]
    found = IndependentTags().log_likelihood(emissions, tags, LENGTHS)
    assert found.tolist() == pytest.approx(expected)


def test_a_word_whose_tag_is_unknown_does_not_count(emissions: torch.Tensor) -> None:
    tags = torch.tensor([[0, UNKNOWN, 1], [UNKNOWN, UNKNOWN, 1]])
    known = [(0, 0), (2, 1)]  # word, tag
    expected = [sum(math.log(probabilities(emissions[0, word])[tag]) for word, tag in known), 0.0]
    found = IndependentTags().log_likelihood(emissions, tags, LENGTHS)
    assert found.tolist() == pytest.approx(expected)


def test_every_word_takes_its_own_best_tag(emissions: torch.Tensor) -> None:
    field = IndependentTags()
    paths = field.decode(emissions, LENGTHS)
    best = [max(range(4), key=emissions[0, word].tolist().__getitem__) for word in range(3)]
    assert paths[0].tolist() == best
    assert paths[1, 1:].tolist() == [0, 0]
    found = field.path_probabilities(emissions, paths, LENGTHS)
    expected = [max(probabilities(emissions[0, word])) for word in range(3)]
    assert found.marginal[0].tolist() == pytest.approx(expected)
    assert found.conditional[0].tolist() == pytest.approx(expected)
    assert found.conditional[1, 1:].tolist() == [1, 1]


def test_marginals_are_softmax(emissions: torch.Tensor) -> None:
    found = IndependentTags().marginals(emissions, LENGTHS)
    assert found[1, 0].tolist() == pytest.approx(probabilities(emissions[1, 0]))
    assert (found[1, 1:] == 0).all()
