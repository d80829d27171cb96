"""Every example has its place in a pass, and the place is found again."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.layouts.batching import Budget
from factloom.training.sources import (
    BucketedDocuments,
    ContiguousSegments,
    EndlessStream,
    PassesOfStream,
    Source,
)


@dataclass(frozen=True)
class Cost:
    tokens: int
    terms: int


@dataclass(frozen=True)
class Segment:
    document: int
    number: int
    tokens: int = 4
    terms: int = 1


costs = st.builds(Cost, st.integers(0, 50), st.integers(0, 50))
lengths = st.lists(st.integers(0, 6), max_size=12)


def segments(lengths: Sequence[int]) -> list[list[Segment]]:
    return [[Segment(d, n) for n in range(length)] for d, length in enumerate(lengths)]


# --- bucketed documents ------------------------------------------------------------------------


@given(st.lists(costs, max_size=60), st.integers(1, 9), st.integers(1, 5), st.integers(0, 3))
def test_an_epoch_holds_every_example_once(
    examples: list[Cost], size: int, bucket_steps: int, epoch: int
) -> None:
    source = BucketedDocuments(examples, bucket_steps)
    steps = source.steps(epoch, size, seed=42)
    assert sorted(index for step in steps for index in step) == list(range(len(examples)))
    assert len(steps) == source.length(size)
    assert sorted(len(step) for step in steps)[1:] == [size] * (len(steps) - 1)


def test_buckets_bring_documents_of_like_length_together_in_random_order() -> None:
    examples = [Cost(tokens=(37 * index) % 160, terms=1) for index in range(160)]

    def padding(bucket_steps: int) -> int:
        steps = BucketedDocuments(examples, bucket_steps).steps(0, 4, seed=42)
        lengths = [[examples[index].tokens for index in step] for step in steps]
        return sum(4 * max(step) - sum(step) for step in lengths)

    assert padding(40) < padding(8) < padding(1)
    steps = BucketedDocuments(examples, 40).steps(0, 4, seed=42)
    longest = [max(examples[index].tokens for index in step) for step in steps]
    assert longest != sorted(longest)


# --- contiguous segments -----------------------------------------------------------------------


@given(lengths, st.integers(1, 5), st.integers(0, 3))
def test_a_row_continues_its_document_or_begins_another(
    lengths: list[int], size: int, epoch: int
) -> None:
    source = ContiguousSegments(segments(lengths))
    steps = [[source[number] for number in step] for step in source.steps(epoch, size, seed=42)]
    for before, after in pairwise(steps):
        assert len(after) <= len(before)  # rows that end are the last ones
        for one, other in zip(before, after, strict=False):
            continues = (other.document, other.number) == (one.document, one.number + 1)
            ends = one.number + 1 == lengths[one.document]
            assert continues or (ends and other.number == 0)
    assert all(segment.number == 0 for segment in (steps[0] if steps else ()))


@given(lengths, st.integers(1, 5), st.integers(0, 3))
def test_a_pass_holds_every_segment_once(lengths: list[int], size: int, epoch: int) -> None:
    source = ContiguousSegments(segments(lengths))
    steps = list(source.steps(epoch, size, seed=42))
    assert sorted(number for step in steps for number in step) == list(range(sum(lengths)))
    assert len(steps) == source.length(size)
    assert all(0 < len(step) <= size for step in steps)


def test_rows_are_of_like_length() -> None:
    source = ContiguousSegments(segments([3, 1, 2, 6, 2, 4]))
    assert source.length(3) == 6  # 18 segments in 3 rows


def test_batches_of_segments_are_cut_at_the_same_rows_whatever_their_length() -> None:
    rows = [Cost(tokens=tokens, terms=9) for tokens in (9, 1, 5, 2, 7)]
    made = list(ContiguousSegments([]).batches(rows, Budget(2, tokens=3, terms=1)))
    assert made == [rows[:2], rows[2:4], rows[4:]]


# --- streams -----------------------------------------------------------------------------------


def test_a_stream_has_no_end_and_makes_an_example_when_it_is_asked_for() -> None:
    made: list[int] = []

    def make(number: int) -> Cost:
        made.append(number)
        return Cost(number, 1)

    source = EndlessStream(make, "numbers")
    steps = list(islice(source.steps(0, 3, seed=42), 1000, 1002))
    assert [list(step) for step in steps] == [[3000, 3001, 3002], [3003, 3004, 3005]]
    assert source.length(3) is None
    assert made == []
    assert source[3001] == Cost(3001, 1)
    assert made == [3001]


def test_passes_of_a_stream_go_on_where_the_last_one_ended() -> None:
    source = PassesOfStream(lambda number: Cost(number, 1), 7, "numbers")
    assert source.length(3) == 3
    passes = [[list(step) for step in source.steps(epoch, 3, seed=42)] for epoch in (0, 1)]
    assert passes == [[[0, 1, 2], [3, 4, 5], [6]], [[7, 8, 9], [10, 11, 12], [13]]]
    assert source[13] == Cost(13, 1)


# --- all ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        BucketedDocuments([Cost(tokens=index % 7, terms=1) for index in range(40)], 16),
        ContiguousSegments(segments(range(1, 12))),
    ],
    ids=lambda source: type(source).__name__,
)
def test_order_depends_on_seed_and_epoch_alone(source: Source) -> None:
    def order(seed: int, epoch: int) -> list[Sequence[int]]:
        return list(source.steps(epoch, 4, seed))

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_other_examples_have_another_fingerprint() -> None:
    made = [
        BucketedDocuments([Cost(1, 1), Cost(2, 1)], 1),
        BucketedDocuments([Cost(1, 1), Cost(3, 1)], 1),
        ContiguousSegments(segments([2, 1])),
        ContiguousSegments(segments([1, 2])),
        EndlessStream(lambda _: Cost(1, 1), "one"),
        EndlessStream(lambda _: Cost(1, 1), "other"),
        PassesOfStream(lambda _: Cost(1, 1), 5, "one"),
        PassesOfStream(lambda _: Cost(1, 1), 6, "one"),
    ]
    assert len({str(source.fingerprint()) for source in made}) == len(made)
