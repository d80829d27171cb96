"""Windows: every token once, full, documents apart; examples decided by seed and number alone."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.errors import InputError, RecipeError
from factloom.objectives.corpus import Corpus
from factloom.objectives.packing import Examples, Part, Windows, shuffled, split


def corpus(*lengths: int) -> Corpus:
    """Documents of so many tokens; every token is its own number."""
    total = sum(lengths)
    borders = np.cumsum([0, *lengths])
    return Corpus(Path("c"), np.arange(total), np.zeros(total, np.uint8), borders, "f")


def windows(*lengths: int, window: int = 32, packed: bool = True) -> Windows:
    return Windows(corpus(*lengths), lambda tokens: tokens + 2, window, packed)


@given(st.lists(st.integers(1, 100), min_size=1, max_size=30), st.booleans())
def test_every_token_is_in_one_window_and_no_stretch_in_two_documents(
    lengths: list[int], packed: bool
) -> None:
    found = windows(*lengths, packed=packed)
    borders = np.cumsum([0, *lengths])
    seen: list[int] = []
    for number in range(len(found)):
        stretches = list(found.stretches(number))
        assert sum(len(stretch.ids) + 2 for stretch in stretches) <= 32
        assert packed or len(stretches) == 1
        for stretch in stretches:
            document = np.searchsorted(borders, stretch.ids, "right")
            assert len(set(document.tolist())) == 1
            seen.extend(stretch.ids.tolist())
    assert seen == list(range(sum(lengths)))


def test_windows_of_packed_text_are_full() -> None:
    lengths = np.random.default_rng(0).integers(3, 90, 500).tolist()
    found = windows(*lengths)
    slots = [sum(len(s.ids) + 2 for s in found.stretches(n)) for n in range(len(found))]
    assert np.mean(slots) > 0.9 * 32
    apart = windows(*lengths, packed=False)
    assert len(apart) > 1.2 * len(found)


def test_a_window_without_room_for_text_is_an_error() -> None:
    with pytest.raises(RecipeError) as caught:
        windows(5, window=2)
    assert caught.value.code == "window-without-text"


def test_held_out_windows_are_so_many_and_not_trained_on() -> None:
    found = windows(*[100] * 2000)
    training, held_out = split(found, 0.05, seed=1)
    assert not set(training.numbers) & set(held_out.numbers)
    assert len(training) + len(held_out) == len(found)
    assert len(held_out) / len(found) == pytest.approx(0.05, abs=0.01)
    assert split(found, 0.05, seed=1)[1].numbers.tolist() == held_out.numbers.tolist()
    assert split(found, 0.05, seed=2)[1].numbers.tolist() != held_out.numbers.tolist()
    neighbours = (np.diff(held_out.numbers) == 1).mean()
    assert neighbours > 0.8  # blocks


def test_too_little_text_to_hold_some_out_is_an_error() -> None:
    with pytest.raises(RecipeError) as caught:
        split(windows(5), 0.5, seed=1)
    assert caught.value.code == "too-little-text"


def examples(*parts: Part, weights: list[float] | None = None, seed: int = 7) -> Examples:
    return Examples(parts, weights or [1.0] * len(parts), pairs=False, seed=seed)


def test_a_pass_has_every_window_once_in_another_order_each_time() -> None:
    part = Part.whole(windows(*[50] * 40))
    stream = examples(part)
    passes = [
        [stream.make(n).id for n in range(turn * len(part), (turn + 1) * len(part))]
        for turn in range(3)
    ]
    assert all(len(set(names)) == len(part) for names in passes)
    assert passes[0] != passes[1] != passes[2]
    assert passes[0] != sorted(passes[0])


def test_an_example_is_the_same_whenever_it_is_asked_for() -> None:
    part = Part.whole(windows(*[50] * 40))
    one, other = examples(part), examples(part)
    for number in (5, 3, 5000, 3):
        mine, theirs = one.make(number), other.make(number)
        assert (mine.id, mine.randomness, mine.tokens) == (
            theirs.id,
            theirs.randomness,
            theirs.tokens,
        )
    assert examples(part, seed=8).make(3).randomness != one.make(3).randomness
    assert one.make(3).randomness != one.make(4).randomness


def test_a_window_that_comes_again_is_masked_in_another_way() -> None:
    part = Part.whole(windows(*[50] * 4))
    stream = examples(part)
    by_window: dict[str, set[tuple[int, ...]]] = {}
    for number in range(3 * len(part)):
        example = stream.make(number)
        by_window.setdefault(example.id, set()).add(example.randomness)
    assert {len(masks) for masks in by_window.values()} == {3}


def test_corpora_are_seen_by_their_weights_and_each_as_a_whole() -> None:
    small, large = (
        Part.whole(Windows(corpus(*[50] * n), lambda tokens: tokens + 2, 32, True))
        for n in (10, 100)
    )
    stream = Examples([small, large], [3.0, 1.0], pairs=False, seed=7)
    which = [int(stream.turns[n % 1024]) for n in range(4000)]
    assert np.mean(which) == pytest.approx(0.25, abs=0.01)
    assert abs(np.mean(which[:20]) - 0.25) <= 0.05  # evenly, from the beginning
    from_small = [stream.make(n).id for n in range(4000) if which[n] == 0]
    assert len(set(from_small[: len(small)])) == len(small)


def test_measured_windows_are_the_same_each_time_and_not_too_many() -> None:
    stream = examples(Part.whole(windows(*[50] * 400)))
    first, again = list(stream.in_order(20)), list(stream.in_order(20))
    assert len(first) == 20
    assert [e.randomness for e in first] == [e.randomness for e in again]
    assert len({e.id for e in first}) == 20


def test_the_other_stretch_is_of_another_document() -> None:
    found = windows(10, 20, 40, 10, packed=True)
    borders = found.corpus.documents
    chance = np.random.default_rng(0)
    for number in range(len(found)):
        mine = np.concatenate([stretch.ids for stretch in found.stretches(number)])
        documents = set(np.searchsorted(borders, mine, "right").tolist())
        for _ in range(50):
            other = found.of_another_document(number, chance)
            assert other is not None
            whose = set(np.searchsorted(borders, other.ids, "right").tolist())
            assert len(whose) == 1
            assert not whose & documents
            assert len(other.ids) <= len(mine)
    assert windows(50).of_another_document(0, chance) is None


@given(st.integers(1, 3000), st.integers(0, 5))
def test_shuffling_is_a_permutation(length: int, key: int) -> None:
    assert sorted(shuffled(n, length, (key,)) for n in range(length)) == list(range(length))


def test_shuffling_is_far_from_the_order() -> None:
    places = np.array([shuffled(n, 5000, (1,)) for n in range(5000)])
    assert abs(np.corrcoef(np.arange(5000), places)[0, 1]) < 0.05
    assert (np.abs(np.diff(places)) < 5).mean() < 0.02


def test_no_windows_are_an_error() -> None:
    with pytest.raises(InputError) as caught:
        examples(Part(windows(50), np.zeros(0, np.int64)))
    assert caught.value.code == "nothing-to-learn"
