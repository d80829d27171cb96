"""Forms of words."""

import pytest

from factloom.text.word_stems import stem


@pytest.mark.parametrize(
    "forms",
    [
        "found founded founder founders founding",
        "write wrote written writer",
        "headquarters headquartered",
        "country countries",
        "genre genres",
        "plan planned planning",
        "marry married marriage",
        "tributary tributaries",
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


def test_other_words_have_other_stems() -> None:
    words = [
        "founder",
        "mother",
        "father",
        "brother",
        "sister",
        "mayor",
        "member",
        "author",
        "actor",
    ]
    assert len({stem(word) for word in words}) == len(words)
