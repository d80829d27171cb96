"""Which part of a step a process works on, and how large a step is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_model import toy_settings

from factloom.training.step import share, step_size


@given(st.lists(st.integers(0, 99), max_size=30), st.integers(1, 5))
def test_the_shares_of_all_processes_make_the_step(step: list[int], processes: int) -> None:
    shares = [share(step, process, processes) for process in range(processes)]
    assert sorted(index for part in shares for index in part) == sorted(step)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize(("processes", "expected"), [(1, 6), (2, 12)])
def test_a_step_is_batch_size_times_accumulation_times_processes(
    processes: int, expected: int
) -> None:
    assert step_size(toy_settings(batch_size=2, accumulation=3), processes) == expected
