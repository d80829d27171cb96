"""Names made comparable."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.graph.name_keys import (
    are_related,
    is_name,
    name_key,
    person_key,
    surname,
    tells_who,
    value_key,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("United States", "the united  states"),
        ("U.S.A.", "USA"),
        ("Élodie Müller", "Elodie Muller"),
        ("Mara's", "Mara"),
        ("Nations’", "Nations"),
        ("Quill-mark", "Quill mark"),
        ("Ｑuillmark", "Quillmark"),
    ],
)
def test_spellings_of_one_name_have_one_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@given(st.text())
def test_a_key_is_its_own_key(name: str) -> None:
    assert name_key(name_key(name)) == name_key(name) or "the" in name_key(name).split()


def test_titles_are_no_part_of_a_name() -> None:
    assert person_key("Dr. Mara Velden") == "mara velden"
    assert person_key("Lord") == "lord"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ada lovelace", True),
        ("lovelace", False),
        ("j smith", False),
        ("马云", True),
        ("马", False),
    ],
)
def test_a_surname_alone_does_not_tell_who(name: str, expected: bool) -> None:
    assert tells_who(name) is expected


def test_the_last_word_is_the_surname() -> None:
    assert surname("ada lovelace") == "lovelace"


@pytest.mark.parametrize("mention", ["she", "It", "the company", "他们"])
def test_what_means_something_in_its_own_document_only_is_no_name(mention: str) -> None:
    assert not is_name(mention)


@pytest.mark.parametrize("mention", ["US", "the United States", "naloxone", "马云", "It Ltd"])
def test_names_are_names(mention: str) -> None:
    assert is_name(mention)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 May 1931", "1931-05-03"),
        ("May 3, 1931", "1931-05-03"),
        ("3rd of May 1931", "1931-05-03"),
        ("1931-5-3", "1931-05-03"),
        ("1931年5月3日", "1931-05-03"),
        ("Sept 1931", "1931-09"),
        ("1931", "1931"),
        ("12,000", "12000"),
        ("yesterday", None),
        ("last Monday", None),
        ("3 May", None),
        ("May 1931 and June 1932", None),
        ("5月3日", None),
        ("3 days ago", None),
        ("3天前", None),
        ("5 °C", "5 c"),
        ("-5 °C", "-5 c"),
        ("−5 °C", "-5 c"),
        ("1939-1945", "1939 1945"),
    ],
)
def test_a_value_has_one_form_and_none_if_it_depends_on_the_document(
    text: str, expected: str | None
) -> None:
    assert value_key(text) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("world health organization", "who", True),
        ("university of ashmere", "ua", True),
        ("quillmark ltd", "quillmark", True),
        ("阿里巴巴集团", "阿里巴巴", True),
        ("ada lovelace", "charles babbage", False),
        ("is", "it", False),
    ],
)
def test_names_are_related_by_a_word_or_by_initials(one: str, other: str, expected: bool) -> None:
    assert are_related(one, other) is expected
    assert are_related(other, one) is expected


def test_voicing_of_japanese_syllables_tells_names_apart() -> None:
    assert name_key("パリ") != name_key("バリ")
    assert name_key("ガス") == name_key(unicodedata.normalize("NFD", "ガス"))


def test_a_name_of_white_space_is_its_own_key() -> None:
    assert person_key("\u3000") == "\u3000"
    assert surname("\u3000") == "\u3000"
