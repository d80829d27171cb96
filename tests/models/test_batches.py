"""Documents in batches for prediction, and a mode that is put back."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from factloom.layouts.batching import batches_by_length
from factloom.modules.evaluating import evaluating


@dataclass(frozen=True)
class Sizes:
    tokens: int
    terms: int


sizes = st.builds(Sizes, tokens=st.integers(0, 300), terms=st.integers(0, 2))


@given(st.lists(sizes, max_size=30), st.integers(1, 1000))
def test_every_document_with_a_pair_is_in_one_batch_within_the_budget(
    examples: list[Sizes], budget: int
) -> None:
    batches = list(batches_by_length(examples, budget))
    numbers = sorted(number for batch in batches for number in batch)
    assert numbers == [number for number, example in enumerate(examples) if example.terms]
    for batch in batches:
        longest = max(examples[number].tokens for number in batch)
        assert len(batch) == 1 or len(batch) * longest <= budget


def test_documents_of_like_length_stand_together() -> None:
    examples = [Sizes(tokens, 1) for tokens in (100, 5, 90, 6)]
    assert list(batches_by_length(examples, 200)) == [[1, 3], [2, 0]]


def test_the_mode_is_put_back_also_after_an_error() -> None:
    model = nn.Sequential(nn.Dropout())
    seen = []

    def fail() -> None:
        with evaluating(model):
            seen.append(model[0].training)
            raise KeyError

    for training in (True, False):
        model.train(training)
        with pytest.raises(KeyError):
            fail()
        assert model.training is model[0].training is training
    assert seen == [False, False]
