"""The four reasoning patterns are those of the paper."""

import pytest

from factloom.reasoning_patterns import PATTERNS, in_letters, premises

PAPER = {
    1: (("s", "i"), ("i", "o")),
    2: (("s", "i"), ("o", "i")),
    3: (("o", "i"), ("i", "s")),
    4: (("i", "s"), ("i", "o")),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_premises_are_those_of_the_paper(pattern: int) -> None:
    assert premises(pattern, "s", "o", "i") == PAPER[pattern]


def test_patterns_are_told_in_letters() -> None:
    assert [in_letters(pattern) for pattern in PATTERNS] == [
        "(s, i) (i, o)",
        "(s, i) (o, i)",
        "(o, i) (i, s)",
        "(i, s) (i, o)",
    ]
