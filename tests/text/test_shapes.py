"""The shapes of words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.text.shapes import Case, Digits, Place, Signs, places, shape


@pytest.mark.parametrize(
    ("word", "case", "digits", "signs"),
    [
        ("London", Case.TITLE, Digits.NONE, Signs.NONE),
        ("london", Case.LOWER, Digits.NONE, Signs.NONE),
        ("NATO", Case.UPPER, Digits.NONE, Signs.NONE),
        ("A", Case.INITIAL, Digits.NONE, Signs.NONE),
        ("U.S.", Case.UPPER, Digits.NONE, Signs.POINT),
        ("J.", Case.INITIAL, Digits.NONE, Signs.POINT),
        ("McDonald", Case.MIXED, Digits.NONE, Signs.NONE),
        ("O'Brien", Case.MIXED, Digits.NONE, Signs.OTHER),
        ("mRNA", Case.MIXED_LOWER, Digits.NONE, Signs.NONE),
        ("p53", Case.LOWER, Digits.WITH_LETTERS, Signs.NONE),
        ("NF-kappaB", Case.MIXED, Digits.NONE, Signs.HYPHEN),
        ("1996", Case.NONE, Digits.YEAR, Signs.NONE),
        ("38", Case.NONE, Digits.ALL, Signs.NONE),
        ("1996-08-30", Case.NONE, Digits.WITH_SIGNS, Signs.HYPHEN),
        ("-", Case.NONE, Digits.NONE, Signs.ALL),
        ("_", Case.NONE, Digits.NONE, Signs.ALL),
        ("马", Case.NONE, Digits.NONE, Signs.NONE),
        ("Ärzte", Case.TITLE, Digits.NONE, Signs.NONE),
        ("", Case.NONE, Digits.NONE, Signs.NONE),
    ],
)
def test_shapes(word: str, case: Case, digits: Digits, signs: Signs) -> None:
    assert shape(word) == (case, digits, signs)


def test_a_sentence_says_what_its_capitals_are_worth() -> None:
    assert places(["She", "left", "London"]) == [Place.FIRST, Place.INSIDE, Place.INSIDE]
    assert places(["CRICKET", "-", "A", "WIN", "1996"]) == [Place.HEADLINE] * 5
    assert places(["A", "1996"]) == [Place.FIRST, Place.INSIDE]
    assert places([]) == []


@given(st.text(max_size=8))
def test_any_text_has_a_shape(word: str) -> None:
    case, _, signs = shape(word)
    assert (case is Case.NONE) == (not any(c.isupper() or c.islower() for c in word))
    assert (signs is Signs.ALL) == bool(word and not any(map(str.isalnum, word)))
