"""Labels by intervention: levels move by one, stay in bounds, and do not flicker."""

import numpy as np

from factloom.modules.relevance_levels import HIGHEST, LOWEST, labels, move_levels


def test_small_rises_count_as_they_are() -> None:
    """Cut to whole numbers, none of these would have changed anything."""
    levels = np.zeros(4, np.int8)
    move_levels(levels, [0, 1, 2, 3], [0.21, 0.2, -0.05, -0.051], up=0.2, down=-0.05)
    assert levels.tolist() == [1, 0, 0, -1]
    assert labels(levels).tolist() == [True, False, False, False]


def test_what_was_useful_twice_is_not_forgotten_at_once() -> None:
    levels = np.zeros(1, np.int8)
    seen = []
    for rise in (0.5, np.inf, 0.9, -0.2, 0.0, -0.2, 0.3):
        move_levels(levels, [0], [rise], up=0.2, down=-0.05)
        seen.append((int(levels[0]), bool(labels(levels)[0])))
    assert seen == [
        (1, True),
        (HIGHEST, True),
        (HIGHEST, True),
        (1, True),
        (1, True),
        (0, False),
        (1, True),
    ]


def test_a_level_has_a_lowest() -> None:
    levels = np.zeros(2, np.int8)
    for _ in range(5):
        move_levels(levels, [1], [-1.0], up=0.2, down=-0.05)
    assert levels.tolist() == [0, LOWEST]
