"""Dates that a question sets as a limit: "founded before 1990", "released in May 2015".

>>> limit, rest = limit_in("Which companies were founded before 1990?")
>>> str(limit), rest, limit.allows("3 May 1988")
('before 1990', 'Which companies were founded in X?', True)
"""

import re
from dataclasses import dataclass

from factloom.graph.name_keys import value_key

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE = (
    rf"(?:\d{{1,2}} {_MONTH},? \d{{4}}|{_MONTH} \d{{1,2}},? \d{{4}}|{_MONTH} \d{{4}}"
    r"|\d{4}-\d{1,2}-\d{1,2}|\d{4})"
)
_LIMIT = re.compile(
    rf"\b(?P<word>before|after|since|until|in|on)(?: the year| the)? (?P<date>{_DATE})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """What a date has to be: before, after, since, until, or in another one."""

    word: str
    date: str  # as `value_key` gives it: 1990, 1990-05, 1990-05-03

    def __str__(self) -> str:
        return f"{self.word} {self.date}"

    def allows(self, date: str) -> bool:
        """Whether a date, as a text has it, lies within the limit; an unclear one does not."""
        found = value_key(date)
        if found is None or not found[:4].isdecimal():
            return False
        common = min(len(found), len(self.date))
        mine, limit = found[:common], self.date[:common]
        if self.word == "before":
            return mine < limit
        if self.word == "after":
            return mine > limit
        if self.word == "since":
            return mine >= limit
        if self.word == "until":
            return mine <= limit
        return mine == limit and len(found) >= len(self.date)


def limit_in(question: str) -> tuple[TimeLimit, str] | None:
    """The limit that a question sets, and the question with "in X" in its place."""
    found = _LIMIT.search(question)
    if found is None:
        return None
    date = value_key(found["date"])
    if date is None:
        return None
    word = found["word"].casefold()
    limit = TimeLimit("in" if word == "on" else word, date)
    return limit, f"{question[: found.start()]}in X{question[found.end() :]}"
