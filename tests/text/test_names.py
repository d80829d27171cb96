"""How alike names are: every number against a plain comparison of two names."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.text.names import OVERLAPS, NameTable, people_meant

NAMES = st.lists(
    st.lists(st.sampled_from(["Ada", "ada", "Lovelace", "of", "U.S.", "WHO", "北京", "7", "-"]))
    .map(" ".join)
    .filter(bool),
    min_size=2,
    max_size=7,
)


def overlap(one: str, other: str) -> list[float]:
    found = NameTable.of([one, other]).overlap(np.array([0]), np.array([1]))
    assert found.shape == (1, OVERLAPS)
    return [round(float(value), 4) for value in found[0]]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Ada Lovelace", "Ada Lovelace", [1, 1, 1, 1, 1, 1, 0]),
        ("ADA LOVELACE", "Ada Lovelace", [0, 1, 1, 1, 1, 1, 0]),
        ("Lovelace", "Ada Lovelace", [0, 0, 0.5, 1, 0, 1, 0]),
        ("Ada", "Ada Lovelace", [0, 0, 0.5, 1, 1, 0, 0]),
        ("Ada King", "Ada Lovelace", [0, 0, 0.3333, 0, 1, 0, 0]),
        ("WHO", "World Health Organization", [0, 0, 0, 0, 0, 0, 1]),
        ("U.S.", "United States", [0, 0, 0, 0, 0, 0, 1]),
        ("IBM", "International Business Machines of America", [0, 0, 0, 0, 0, 0, 0]),
        ("who", "World Health Organization", [0, 0, 0, 0, 0, 0, 0]),
        ("北京", "北京大学", [0, 0, 0.5, 1, 1, 0, 0]),
        ("London", "Paris", [0, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_two_names_are_compared_by_words_and_letters(
    one: str, other: str, expected: list[float]
) -> None:
    assert overlap(one, other) == expected
    assert overlap(other, one) == expected


@given(names=NAMES)
def test_names_of_a_document_are_compared_as_each_two_alone(names: list[str]) -> None:
    table = NameTable.of(names)
    pairs = list(itertools.permutations(range(len(names)), 2))
    left, right = np.array(pairs).T
    found = table.overlap(left, right)
    for row, (one, other) in zip(found, pairs, strict=True):
        assert [round(float(v), 4) for v in row] == overlap(names[one], names[other])


@pytest.mark.parametrize(
    ("one", "other", "different"),
    [
        ("14 March 2019", "2 May 2019", True),
        ("1990", "1991", True),
        ("14 March 2019", "March 2019", False),
        ("1990", "1990", False),
        ("Apollo 11", "Apollo", False),
        ("Apollo 11", "Apollo 12", True),
        ("Ada", "Bob", False),
    ],
)
def test_numbers_tell_things_apart(one: str, other: str, different: bool) -> None:
    table = NameTable.of([one, other])
    assert table.different(np.array([0, 1]), np.array([1, 0])).tolist() == [different] * 2


@given(names=NAMES)
def test_every_pair_within_reach_is_compared_once(names: list[str]) -> None:
    left, right = NameTable.of(names).pairs(reach=len(names))
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == list(
        itertools.combinations(range(len(names)), 2)
    )


def test_far_mentions_are_compared_by_their_names() -> None:
    names = ["Ada Lovelace", "Rome", "Paris", "Oslo", "Lovelace", "Rome", "Bonn", "Rome"]
    left, right = NameTable.of(names).pairs(reach=1)
    far = {(a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True) if b - a > 1}
    assert far == {(0, 4), (1, 5), (5, 7)}


def test_one_mention_has_no_pair() -> None:
    left, right = NameTable.of(["Ada"]).pairs(reach=5)
    assert (len(left), len(right)) == (0, 0)
    assert NameTable.of([]).overlap(left, right).shape == (0, OVERLAPS)


@pytest.mark.parametrize(
    ("names", "meant"),
    [
        (["Ada Lovelace", "Lovelace"], {(0, 1)}),
        (["LOVELACE", "Ada Lovelace", "Ada King Lovelace"], {(0, 1), (0, 2)}),
        (["Ada Lovelace", "Ralph Lovelace", "Lovelace"], set()),  # one of two people
        (["Ada Lovelace", "Ada"], {(0, 1)}),
        (["Ada Lovelace", "Ada", "Lovelace"], {(0, 1), (0, 2), (1, 2)}),
        (["Ada Lovelace", "Ada Byron", "Ada"], set()),
        (["James Dean", "Dean Martin", "Dean"], {(0, 2)}),  # a surname before a first name
        (["John II", "John"], set()),
        (["Anne of Kiev", "Anne"], set()),
        (["John II", "John Smith", "John"], set()),
        (["John II", "John Smith", "Smith"], {(1, 2)}),
        (["Lovelace", "Lovelace"], set()),  # no full name; one spelling is another matter
        (["Ada Lovelace", "Byron"], set()),
    ],
)
def test_a_bare_name_means_the_only_full_name_that_ends_or_begins_with_it(
    names: list[str], meant: set[tuple[int, int]]
) -> None:
    pairs = list(itertools.combinations(range(len(names)), 2))
    left, right = np.array(pairs).T
    people = np.ones(len(names), np.bool_)
    found = NameTable.of(names).bare_name(left, right, people)
    assert {pair for pair, held in zip(pairs, found, strict=True) if held} == meant
    assert not NameTable.of(names).bare_name(left, right, ~people).any()


def test_who_is_no_person_has_no_surname() -> None:
    names = NameTable.of(["Free Library", "Ada Library", "Library"])
    left, right = np.array([0, 1]), np.array([2, 2])
    assert names.bare_name(left, right, np.array([False, True, True])).tolist() == [False, True]
    assert names.bare_name(left, right, np.array([False, True, False])).tolist() == [False, False]


def test_who_is_meant_without_comparing_all_names() -> None:
    names = ["Ada Brook", "Brook", "Ada Quill", "Ada", "John II", "John", "Cy", "A. Brook Quill"]
    assert people_meant(names) == [0, 0, 1, -1, 2, -1, -1, 3]
    assert people_meant([]) == []


@pytest.mark.parametrize(
    ("one", "other", "short"),
    [
        ("北京大学", "北大", True),
        ("中科院", "中国科学院", True),
        ("上海证券交易所", "上交所", True),
        ("北京大学", "北京", False),  # a part of the name
        ("北京大学", "京大", False),  # another first character
        ("北京大学", "大北", False),
        ("北京大学", "北", False),
        ("李明", "李小明", False),
        ("Peking University", "北大", False),
    ],
)
def test_a_name_in_chinese_is_shortened_to_some_of_its_characters(
    one: str, other: str, short: bool
) -> None:
    left, right = np.array([0]), np.array([1])
    for names in ([one, other], [other, one]):
        assert bool(NameTable.of(names).overlap(left, right)[0, -1]) is short
