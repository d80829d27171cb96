"""Groups of pairs: every cell that is allowed is asked once, and no other."""

import numpy as np
import pytest

from factloom.modules.class_groups import grouped

ALLOWED = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1], [0, 1, 0]], np.bool_)  # (kinds, relations)
KINDS = np.array([3, 0, 1, 2, 3, 0, 0])


def test_the_cells_that_are_asked_are_those_that_are_allowed() -> None:
    asked = np.zeros((len(KINDS), 3), np.int64)
    for group in grouped(KINDS, ALLOWED):
        assert (np.diff(group.rows) > 0).all()
        asked[group.rows[:, None], group.relations] += 1
    assert asked.tolist() == ALLOWED[KINDS].astype(np.int64).tolist()


def test_kinds_that_allow_the_same_are_one_group_and_those_without_anything_none() -> None:
    found = {tuple(g.relations.tolist()): g.rows.tolist() for g in grouped(KINDS, ALLOWED)}
    assert found == {(0, 2): [1, 3, 5, 6], (1,): [0, 4]}


@pytest.mark.parametrize(("first", "end"), [(0, 7), (1, 6), (2, 3), (6, 6)])
def test_part_of_a_group_is_its_pairs_between_two_numbers(first: int, end: int) -> None:
    for group in grouped(KINDS, ALLOWED):
        expected = [row for row in group.rows.tolist() if first <= row < end]
        assert group.between(first, end).tolist() == expected


def test_no_pairs_are_no_groups() -> None:
    assert grouped(KINDS[:0], ALLOWED) == ()
