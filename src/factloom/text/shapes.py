"""The shape of a word: its case, digits and signs, for encoders that read lower case only.

    >>> shape("McDonald") == (Case.MIXED, Digits.NONE, Signs.NONE)
    True

A sentence says what a capital is worth: none where every letter is one, little in the first word.
"""

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache

_LETTER = re.compile(r"[^\W\d_]")
_SIGN = re.compile(r"[\W_]")


class Case(IntEnum):
    """What the capitals of a word look like."""

    NONE = 0  # no letter that has a case
    LOWER = 1
    TITLE = 2  # London
    UPPER = 3  # NATO
    INITIAL = 4  # one letter, a capital: A
    MIXED = 5  # McDonald, VfB
    MIXED_LOWER = 6  # iPhone, mRNA


class Digits(IntEnum):
    """Whether a word has digits, and what else it has."""

    NONE = 0
    YEAR = 1  # four digits and nothing else
    ALL = 2
    WITH_SIGNS = 3  # 1996-08-30, 2.5
    WITH_LETTERS = 4  # p53


class Signs(IntEnum):
    """Whether a word has signs, and what else it has."""

    NONE = 0
    ALL = 1
    HYPHEN = 2  # all-rounder
    POINT = 3  # U.S.
    OTHER = 4  # O'Brien, AT&T


class Place(IntEnum):
    """What a capital of the word is worth."""

    INSIDE = 0
    FIRST = 1  # word of a sentence
    HEADLINE = 2  # a sentence without any small letter


Shape = tuple[Case, Digits, Signs]


@lru_cache(maxsize=2**16)
def shape(word: str) -> Shape:
    """Case, digits and signs of a word."""
    return _case(word), _digits(word), _signs(word)


def places(words: Sequence[str]) -> list[Place]:
    """What the capitals of each word of a sentence are worth."""
    cases = {shape(word)[0] for word in words}
    headline = Case.UPPER in cases and cases <= {Case.NONE, Case.UPPER, Case.INITIAL}
    if headline:
        return [Place.HEADLINE] * len(words)
    return [Place.INSIDE if index else Place.FIRST for index in range(len(words))]


def _case(word: str) -> Case:
    upper = [letter.isupper() for letter in word if letter.isupper() or letter.islower()]
    if not upper:
        return Case.NONE
    if not any(upper):
        return Case.LOWER
    if all(upper):
        return Case.INITIAL if len(upper) == 1 else Case.UPPER
    if not upper[0]:
        return Case.MIXED_LOWER
    return Case.MIXED if any(upper[1:]) else Case.TITLE


def _digits(word: str) -> Digits:
    if not any(map(str.isdigit, word)):
        return Digits.NONE
    if word.isdigit():
        return Digits.YEAR if len(word) == 4 else Digits.ALL
    return Digits.WITH_LETTERS if _LETTER.search(word) else Digits.WITH_SIGNS


def _signs(word: str) -> Signs:
    if not _SIGN.search(word):
        return Signs.NONE
    if not any(map(str.isalnum, word)):
        return Signs.ALL
    if "-" in word:
        return Signs.HYPHEN
    return Signs.POINT if "." in word else Signs.OTHER
