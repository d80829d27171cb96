"""Markers around mentions: what is written, and the way back to the text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.text.markers import mark_spans

Spans = list[tuple[int, int]]


@pytest.mark.parametrize(
    ("text", "spans", "expected"),
    [
        ("born in London.", [(8, 14)], "born in * London * ."),
        ("born in London .", [(8, 14)], "born in * London * ."),
        ("London", [(0, 6)], "* London *"),
        ("London grew", [(0, 6)], "* London * grew"),
        ("in London", [(3, 9)], "in * London *"),
        ("in London\n", [(3, 9)], "in * London *\n"),
        ("New York City", [(0, 8), (0, 13)], "* * New York * City *"),
        ("Old New York", [(4, 12), (0, 12)], "* Old * New York * *"),
        ("Rome (Italy)", [(0, 4), (6, 11)], "* Rome * ( * Italy * )"),
        ("AB", [(0, 1), (1, 2)], "* A * * B *"),
        ("abcd", [(0, 3), (1, 4)], "* a * bc * d *"),
        ("马云出生于杭州。", [(0, 2), (5, 7)], "* 马云 * 出生于 * 杭州 * 。"),
        ("no mention", [], "no mention"),
        ("", [], ""),
    ],
)
def test_markers_stand_around_mentions_set_off_by_single_spaces(
    text: str, spans: Spans, expected: str
) -> None:
    assert mark_spans(text, spans, "*").text == expected


def test_opening_has_the_place_of_each_span_in_the_order_given() -> None:
    marked = mark_spans("Rome and Paris", [(9, 14), (0, 4)], "*")
    assert marked.text == "* Rome * and * Paris *"
    assert marked.opening.tolist() == [13, 0]


def test_a_span_given_twice_is_marked_once() -> None:
    marked = mark_spans("Rome fell", [(0, 4), (0, 4)], "*")
    assert marked.text == "* Rome * fell"
    assert marked.opening.tolist() == [0, 0]


def test_of_nested_spans_with_one_start_the_outer_one_opens_first() -> None:
    marked = mark_spans("New York City", [(0, 8), (0, 13)], "*")
    assert marked.opening.tolist() == [2, 0]


def test_markers_stand_for_the_nearest_character_of_their_mention() -> None:
    marked = mark_spans("a bc.", [(2, 4)], "*")
    assert marked.text == "a * bc * ."
    assert marked.origin.tolist() == [0, 1, 2, 2, 2, 3, 3, 3, 3, 4]


def test_a_marker_may_be_a_word() -> None:
    marked = mark_spans("in Rome.", [(3, 7)], "[E]")
    assert marked.text == "in [E] Rome [E] ."
    assert marked.opening.tolist() == [3]


@st.composite
def texts_with_spans(draw: st.DrawFn) -> tuple[str, Spans]:
    text = draw(st.text("ab中 \n", max_size=20))
    places = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(places, places), max_size=8))
    return text, [(start, end) for start, end in pairs if start < end]


@given(texts_with_spans(), st.sampled_from(["*", "<e>"]))
def test_every_character_stands_once_between_the_markers_that_belong_to_it(
    case: tuple[str, Spans], marker: str
) -> None:
    text, spans = case
    marked = mark_spans(text, spans, marker)
    assert len(marked.origin) == len(marked.text)
    origin = marked.origin.tolist()
    assert origin == sorted(origin)
    around = rf"(\s?{re.escape(marker)}\s?)*"
    markers = 0
    for index, character in enumerate(text):
        piece = "".join(c for c, o in zip(marked.text, origin, strict=True) if o == index)
        assert re.fullmatch(around + re.escape(character) + around, piece), piece
        markers += piece.count(marker)
    assert markers == 2 * len(set(spans))


@given(texts_with_spans())
def test_opening_markers_stand_in_front_of_their_mentions(case: tuple[str, Spans]) -> None:
    text, spans = case
    marked = mark_spans(text, spans, "*")
    for (start, end), opening in zip(spans, marked.opening.tolist(), strict=True):
        assert marked.text[opening] == "*"
        assert marked.origin[opening] == start
        behind = marked.text[opening + 1 :].replace("*", "")
        mention = "".join(text[start:end].split())
        assert "".join(behind.split()).startswith(mention)


@given(texts_with_spans())
def test_markers_never_touch_a_letter_or_each_other(case: tuple[str, Spans]) -> None:
    marked = mark_spans(*case, "*").text
    for place in (index for index, character in enumerate(marked) if character == "*"):
        for neighbour in (marked[max(place - 1, 0) : place], marked[place + 1 : place + 2]):
            assert neighbour == "" or neighbour.isspace()
