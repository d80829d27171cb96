import doctest

import pytest

import factloom.text.pronouns
from factloom.text.pronouns import is_pronoun


def test_doctests_of_the_module_hold() -> None:
    assert doctest.testmod(factloom.text.pronouns).failed == 0


@pytest.mark.parametrize("mention", ["she", "Her", "I", "themselves", "他", "她们", "其"])
def test_pronouns_are_told_in_both_languages(mention: str) -> None:
    assert is_pronoun(mention)


@pytest.mark.parametrize(
    "mention", ["US", "IT", "the company", "her brother", "该公司", "其子", ""]
)
def test_names_in_capitals_and_descriptions_are_none(mention: str) -> None:
    assert not is_pronoun(mention)
