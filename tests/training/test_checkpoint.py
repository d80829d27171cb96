"""Directories that are replaced as a whole, and checkpoints that hold any state."""

import random
from pathlib import Path

import numpy
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from factloom.training.checkpoint import (
    checkpoints,
    load_checkpoint,
    recover_directory,
    remove_leftovers,
    save_checkpoint,
    write_directory,
)
from factloom.training.randomness import kept_randomness, random_state, set_random_state


def writes(text: str) -> object:
    return lambda directory: (directory / "file").write_text(text)


def fails(directory: Path) -> None:
    (directory / "file").write_text("half")
    raise OSError("disk full")


def test_a_directory_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "best"
    for text in ("first", "second"):
        write_directory(target, writes(text))
        assert (target / "file").read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


def test_a_failed_write_leaves_the_old_directory(tmp_path: Path) -> None:
    target = tmp_path / "best"
    write_directory(target, writes("old"))
    with pytest.raises(OSError, match="disk full"):
        write_directory(target, fails)
    assert (target / "file").read_text() == "old"
    write_directory(target, writes("new"))
    assert (target / "file").read_text() == "new"


def test_a_kill_between_the_two_renames_is_recovered(tmp_path: Path) -> None:
    target = tmp_path / "best"
    write_directory(target, writes("old"))
    target.rename(tmp_path / "best.old")
    (tmp_path / "best.new").mkdir()
    recover_directory(target)
    assert (target / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


def test_a_kill_before_the_old_directory_is_removed_keeps_the_new_one(tmp_path: Path) -> None:
    write_directory(tmp_path / "best", writes("new"))
    write_directory(tmp_path / "best.old", writes("old"))
    recover_directory(tmp_path / "best")
    assert (tmp_path / "best" / "file").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


def test_checkpoints_half_written_or_half_removed_do_not_count(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, 7, {"weight": torch.ones(2)}, {}, keep=1)
    (tmp_path / "step-00000008.new").mkdir()
    (tmp_path / "step-00000006.old").mkdir()
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000007"]
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000007"]


def test_tied_and_transposed_weights_come_back(tmp_path: Path) -> None:
    shared = torch.arange(6.0).reshape(2, 3)
    weights = {"one": shared, "two": shared, "turned": shared.T, "part": shared[0]}
    save_checkpoint(tmp_path, 1, weights, {"again": shared}, keep=1)
    loaded, state = load_checkpoint(tmp_path / "step-00000001")
    assert all(loaded[name].equal(tensor) for name, tensor in weights.items())
    assert state["again"].equal(shared)


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
tensors = st.sampled_from(
    [torch.ones(2), torch.zeros(()), torch.arange(3), torch.empty(0), torch.tensor([True])]
)
states = st.dictionaries(
    st.text(),
    st.recursive(
        plain | tensors,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


@settings(deadline=None)  # disks and machines may be slow
@example({"__tensor__": None, "___tensor__": {"__tensor__": torch.ones(2)}})
@example({"a/b": torch.ones(2), "a": {"b": torch.zeros(())}})
@given(states)
def test_any_state_of_tensors_and_json_values_comes_back(
    tmp_path_factory: pytest.TempPathFactory, state: dict[str, object]
) -> None:
    folder = tmp_path_factory.mktemp("state")
    save_checkpoint(folder, 1, {}, {"state": state}, keep=1)
    _, loaded = load_checkpoint(folder / "step-00000001")
    assert same(loaded["state"], state)


def same(one: object, other: object) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.dtype == other.dtype and one.equal(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def draw() -> tuple[float, float, float, float]:
    return random.random(), random.gauss(0, 1), numpy.random.normal(), torch.rand(1).item()


def test_random_numbers_go_on_from_a_saved_state(tmp_path: Path) -> None:
    draw()  # gauss and normal draw two and keep one
    save_checkpoint(tmp_path, 1, {}, {"random": random_state()}, keep=1)
    expected = [draw() for _ in range(3)]
    _, state = load_checkpoint(tmp_path / "step-00000001")
    set_random_state(state["random"])
    assert [draw() for _ in range(3)] == expected


def test_kept_randomness_survives_an_error() -> None:
    @kept_randomness()
    def fail() -> None:
        draw()
        raise RuntimeError

    state = random_state()
    expected = draw()
    set_random_state(state)
    with pytest.raises(RuntimeError):
        fail()
    assert draw() == expected
