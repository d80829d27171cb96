"""Integers in slots of their own, against Python's sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.text.integer_table import IntegerTable

integers = st.integers(1, 50) | st.integers(1, 2**48)


def check_table(keys: list[int], others: list[int]) -> None:
    """Every key is found, in a slot of its own, and nothing else is."""
    table = IntegerTable(np.array(keys, np.int64))
    asked = [*others, *keys]
    found, slots = table.find(np.array(asked, np.int64))
    known = set(keys)
    assert found.tolist() == [number for number, key in enumerate(asked) if key in known]
    slot_of = dict(zip([asked[number] for number in found], slots.tolist(), strict=True))
    assert [slot_of[asked[number]] for number in found] == slots.tolist()
    assert len(set(slot_of.values())) == len(keys)
    assert all(0 <= slot < table.slots for slot in slot_of.values())


@given(st.lists(integers, unique=True, max_size=60), st.lists(integers, max_size=40))
def test_keys_are_found_in_slots_of_their_own(keys: list[int], others: list[int]) -> None:
    check_table(keys, others)


@pytest.mark.parametrize("step", [1, 64, 6765, 2**20])
def test_many_keys_in_regular_steps_are_found(step: int) -> None:
    keys = list(range(step, 20_000 * step, step))
    check_table(keys, [key + 1 for key in keys])
