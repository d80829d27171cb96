"""Search by vectors is exact, on disk as in memory; slots can be used again."""

from pathlib import Path

import numpy as np
import pytest

from factloom.answers.vector_index import VectorIndex, Vectors

WIDTH = 24


def random_vectors(count: int, seed: int = 0) -> Vectors:
    found = np.random.default_rng(seed).normal(size=(count, WIDTH))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(params=["disk", "memory"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> VectorIndex:
    return VectorIndex(WIDTH, tmp_path / "vectors.bin" if request.param == "disk" else None)


@pytest.mark.parametrize("top", [1, 7, 2500, 9999])
def test_the_best_are_those_that_brute_force_finds(index: VectorIndex, top: int) -> None:
    index.write(np.arange(2500), random_vectors(2500))
    among = np.flatnonzero(np.random.default_rng(1).random(2500) < 0.7)
    (asked,) = random_vectors(1, seed=2)
    slots, scores = index.search(asked, top, among)
    naive = {int(slot): float(index.vectors([slot])[0] @ asked) for slot in among}
    expected = sorted(naive, key=lambda slot: -naive[slot])[:top]
    assert slots.tolist() == expected
    assert scores == pytest.approx([naive[slot] for slot in expected], abs=1e-5)


def test_eight_bits_are_close_to_the_vectors(index: VectorIndex) -> None:
    vectors = random_vectors(50)
    index.write(np.arange(50), vectors)
    error = np.abs(index.vectors(np.arange(50)) - vectors)
    assert error.max() <= 0.5 * np.abs(vectors).max() / 127 + 1e-6


def test_of_equals_the_lower_slot_comes_first(index: VectorIndex) -> None:
    index.write(np.arange(6), np.repeat(random_vectors(1), 6, axis=0))
    slots, _ = index.search(random_vectors(1)[0], 3, np.array([1, 2, 4, 5]))
    assert slots.tolist() == [1, 2, 4]


def test_slots_are_written_anywhere_and_again(index: VectorIndex) -> None:
    index.write(np.arange(5), random_vectors(5))
    others = random_vectors(3, seed=9)
    index.write(np.array([1, 4, 5]), others)
    for slot, vector in zip((1, 4, 5), others, strict=True):
        assert index.search(vector, 1, np.arange(6))[0].tolist() == [slot]


def test_nothing_is_found_among_nothing(index: VectorIndex) -> None:
    slots, _ = index.search(random_vectors(1)[0], 3, np.zeros(0, np.int64))
    assert slots.tolist() == []


def test_a_half_written_row_at_the_end_is_no_vector(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    VectorIndex(WIDTH, path).write(np.arange(4), random_vectors(4))
    with path.open("ab") as stream:
        stream.write(b"half")
    assert len(VectorIndex(WIDTH, path)) == 4


def test_a_zero_vector_is_kept(index: VectorIndex) -> None:
    index.write(np.arange(1), np.zeros((1, WIDTH), np.float32))
    assert not index.vectors([0]).any()
