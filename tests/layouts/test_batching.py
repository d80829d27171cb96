"""Batches keep to their budget."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from factloom.layouts.batching import Budget, batches


@dataclass(frozen=True)
class Cost:
    tokens: int
    terms: int


costs = st.builds(Cost, st.integers(0, 50), st.integers(0, 50))
limits = st.none() | st.integers(1, 100)


@given(st.lists(costs, max_size=30), st.integers(1, 6), limits, limits)
def test_batches_hold_every_example_once_within_the_budget(
    examples: list[Cost], documents: int, tokens: int | None, terms: int | None
) -> None:
    made = list(batches(examples, Budget(documents, tokens, terms)))
    by_cost = sorted(examples, key=lambda cost: (cost.tokens, cost.terms))
    flat = [example for batch in made for example in batch]
    assert sorted(flat, key=lambda cost: (cost.tokens, cost.terms)) == by_cost
    for batch in made:
        padded = max(example.tokens for example in batch) * len(batch)
        within = (
            len(batch) <= documents
            and (tokens is None or padded <= tokens)
            and (terms is None or sum(example.terms for example in batch) <= terms)
        )
        assert within or len(batch) == 1


def test_an_example_over_the_budget_is_a_batch_of_its_own() -> None:
    small, large = Cost(tokens=5, terms=2), Cost(tokens=90, terms=500)
    made = list(batches([large, small, small], Budget(documents=8, tokens=20, terms=10)))
    assert made == [[small, small], [large]]
