"""Dates that questions set as limits."""

import pytest

from factloom.answers.time_limits import TimeLimit, limit_in


@pytest.mark.parametrize(
    ("limit", "date", "allowed"),
    [
        (TimeLimit("before", "1990"), "3 May 1988", True),
        (TimeLimit("before", "1990"), "1990", False),
        (TimeLimit("after", "1990"), "1 January 1991", True),
        (TimeLimit("after", "1990"), "31 December 1990", False),
        (TimeLimit("since", "1990"), "1990", True),
        (TimeLimit("until", "1990"), "May 1990", True),
        (TimeLimit("in", "1990"), "May 1990", True),
        (TimeLimit("in", "1990-05"), "1990", False),  # it may have been in another month
        (TimeLimit("in", "1990-05-03"), "May 3, 1990", True),
        (TimeLimit("before", "1990"), "last Monday", False),
    ],
)
def test_a_date_lies_within_a_limit(limit: TimeLimit, date: str, allowed: bool) -> None:
    assert limit.allows(date) is allowed


@pytest.mark.parametrize(
    ("question", "limit", "rest"),
    [
        ("Who was born in 1921?", "in 1921", "Who was born in X?"),
        ("Was it founded before the year 1990?", "before 1990", "Was it founded in X?"),
        ("What came out on 3 May 1990?", "in 1990-05-03", "What came out in X?"),
    ],
)
def test_a_limit_is_found_and_taken_out(question: str, limit: str, rest: str) -> None:
    found = limit_in(question)
    assert found is not None
    assert (str(found[0]), found[1]) == (limit, rest)


def test_a_question_without_a_date_has_no_limit() -> None:
    assert limit_in("Who lived before Mara Velden in Torvik?") is None
