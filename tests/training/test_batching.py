"""Every document has its place in an epoch, and batches keep to their budget."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_model import toy_settings

from factloom.training.batching import Budget, batches, epoch_steps, share, step_count, step_size


@dataclass(frozen=True)
class Cost:
    tokens: int
    pairs: int


costs = st.builds(Cost, st.integers(0, 50), st.integers(0, 50))
limits = st.none() | st.integers(1, 100)


@settings(deadline=None)
@given(st.lists(costs, max_size=60), st.integers(1, 9), st.integers(1, 5), st.integers(0, 3))
def test_an_epoch_holds_every_example_once(
    examples: list[Cost], size: int, bucket_steps: int, epoch: int
) -> None:
    steps = epoch_steps(examples, size, toy_settings(bucket_steps=bucket_steps), epoch)
    assert sorted(index for step in steps for index in step) == list(range(len(examples)))
    assert len(steps) == step_count(len(examples), size)
    assert sorted(len(step) for step in steps)[1:] == [size] * (len(steps) - 1)


def test_order_depends_on_seed_and_epoch_alone() -> None:
    examples = [Cost(tokens=index % 7, pairs=1) for index in range(40)]

    def order(seed: int, epoch: int) -> list[list[int]]:
        return epoch_steps(examples, 4, toy_settings(seed=seed), epoch)

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_buckets_bring_documents_of_like_length_together_in_random_order() -> None:
    examples = [Cost(tokens=(37 * index) % 160, pairs=1) for index in range(160)]

    def padding(bucket_steps: int) -> int:
        steps = epoch_steps(examples, 4, toy_settings(bucket_steps=bucket_steps), 0)
        lengths = [[examples[index].tokens for index in step] for step in steps]
        return sum(4 * max(step) - sum(step) for step in lengths)

    assert padding(40) < padding(8) < padding(1)
    steps = epoch_steps(examples, 4, toy_settings(bucket_steps=40), 0)
    longest = [max(examples[index].tokens for index in step) for step in steps]
    assert longest != sorted(longest)


@settings(deadline=None)
@given(st.lists(st.integers(0, 99), max_size=30), st.integers(1, 5))
def test_the_shares_of_all_processes_make_the_step(step: list[int], processes: int) -> None:
    shares = [share(step, process, processes) for process in range(processes)]
    assert sorted(index for part in shares for index in part) == sorted(step)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@settings(deadline=None)
@given(st.lists(costs, max_size=30), st.integers(1, 6), limits, limits)
def test_batches_hold_every_example_once_within_the_budget(
    examples: list[Cost], documents: int, tokens: int | None, pairs: int | None
) -> None:
    made = list(batches(examples, Budget(documents, tokens, pairs)))
    by_cost = sorted(examples, key=lambda cost: (cost.tokens, cost.pairs))
    flat = [example for batch in made for example in batch]
    assert sorted(flat, key=lambda cost: (cost.tokens, cost.pairs)) == by_cost
    for batch in made:
        padded = max(example.tokens for example in batch) * len(batch)
        within = (
            len(batch) <= documents
            and (tokens is None or padded <= tokens)
            and (pairs is None or sum(example.pairs for example in batch) <= pairs)
        )
        assert within or len(batch) == 1


def test_an_example_over_the_budget_is_a_batch_of_its_own() -> None:
    small, large = Cost(tokens=5, pairs=2), Cost(tokens=90, pairs=500)
    made = list(batches([large, small, small], Budget(documents=8, tokens=20, pairs=10)))
    assert made == [[small, small], [large]]


@pytest.mark.parametrize(("processes", "expected"), [(1, 6), (2, 12)])
def test_a_step_is_batch_size_times_accumulation_times_processes(
    processes: int, expected: int
) -> None:
    assert step_size(toy_settings(batch_size=2, accumulation=3), processes) == expected
