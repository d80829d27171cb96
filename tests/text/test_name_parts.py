"""Marks of name parts reach over the whole name, and over nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.text.name_parts import Part, whole_names
from factloom.text.tags import TypedSpan


def marked(sentence: str, **parts: Part) -> list[str]:
    """The names of a sentence of which words like this/PER are marked."""
    words, marks = [], []
    for number, word in enumerate(sentence.split()):
        bare, _, kind = word.partition("/")
        words.append(bare)
        if kind:
            marks.append(TypedSpan(number, number + 1, kind))
    found = whole_names(words, marks, parts)
    return [f"{' '.join(words[one.start : one.end])}/{one.type}" for one in found]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Then Andrei/PER Tiwontschik won", ["Andrei Tiwontschik/PER"]),
        ("then J. P. Johnson/PER won", ["J. P. Johnson/PER"]),
        ("P. Johnson/PER 84", ["P. Johnson/PER"]),
        ("Andrei/PER O'Brien McDonald won", ["Andrei O'Brien McDonald/PER"]),
        ("Bill/PER Clinton/PER won", ["Bill Clinton/PER"]),
        ("in a game THOMAS/PER MUSTER won", ["THOMAS MUSTER/PER"]),
        ("says President Bill/PER Clinton", ["Bill Clinton/PER"]),
    ],
)
def test_a_first_part_goes_on_behind_it(sentence: str, expected: list[str]) -> None:
    assert marked(sentence, PER="first") == expected


def test_a_last_part_goes_on_in_front_of_it_and_any_part_in_both_directions() -> None:
    sentence = "the World Boxing Association/ORG Tuesday"
    assert marked(sentence, ORG="last") == ["World Boxing Association/ORG"]
    assert marked(sentence, ORG="any") == ["World Boxing Association Tuesday/ORG"]
    assert marked(sentence, ORG="first") == ["Association Tuesday/ORG"]


@pytest.mark.parametrize("part", ["first", "last", "any"])
@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Then Andrei/PER won", ["Andrei/PER"]),
        ("But Andrei/PER won", ["Andrei/PER"]),  # the first word has a capital anyway
        ("so Andrei/PER 1996 Bubka won", ["Andrei/PER"]),
        ("so Andrei/PER , Bubka won", ["Andrei/PER"]),
        ("so Andrei/PER IOC won", ["Andrei/PER"]),
        ("so Peter/PER Blackburn/ORG won", ["Peter/PER", "Blackburn/ORG"]),
        ("the New/LOC Times won", ["New/LOC"]),  # a type that has whole names
        ("ANDREI/PER BEATS BUBKA", ["ANDREI/PER"]),  # nothing shows what is a name
        ("安德烈/PER 波波夫", ["安德烈/PER"]),
    ],
)
def test_what_is_not_part_of_a_name_stays_outside(
    sentence: str, expected: list[str], part: Part
) -> None:
    assert marked(sentence, PER=part) == expected


@given(
    st.lists(st.sampled_from(["Ada", "the", "IOC", "J.", ",", "1996", "Bo/PER", "Oz/LOC"])),
    st.sampled_from(["first", "last", "any"]),
)
def test_marks_keep_their_words_and_never_overlap(words: list[str], part: Part) -> None:
    bare = [word.partition("/")[0] for word in words]
    marks = [
        TypedSpan(number, number + 1, word.partition("/")[2])
        for number, word in enumerate(words)
        if "/" in word
    ]
    found = whole_names(bare, marks, {"PER": part})
    covered = [place for one in found for place in range(one.start, one.end)]
    assert len(covered) == len(set(covered))
    for mark in marks:
        [over] = [one for one in found if one.start <= mark.start and mark.end <= one.end]
        assert over.type == mark.type
    assert [one for one in found if one.type == "LOC"] == [m for m in marks if m.type == "LOC"]
