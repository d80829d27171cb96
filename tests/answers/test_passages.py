"""Passages cover the text, keep to their length, and are cut where it costs least."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.answers.passages import BLOCK, cheapest_cuts, passages_of, title_of
from factloom.document import Document, Sentence
from factloom.errors import InputError
from factloom.text.tokens import find_tokens


def cost_of(ends: tuple[int, ...], costs: list[int]) -> tuple[int, int]:
    """Of blocks and cuts, and of what is not even."""
    lengths = [end - start for start, end in itertools.pairwise((0, *ends))]
    return sum(BLOCK + costs[end - 1] for end in ends), sum(length**2 for length in lengths)


def every_way(count: int, most: int) -> list[tuple[int, ...]]:
    inner = range(1, count)
    ways = ((*cuts, count) for size in range(count) for cuts in itertools.combinations(inner, size))
    return [way for way in ways if all(b - a <= most for a, b in itertools.pairwise((0, *way)))]


@given(st.lists(st.sampled_from([0, 1, 2, 8]), min_size=1, max_size=10), st.integers(1, 5))
def test_no_way_to_cut_is_cheaper_or_as_cheap_and_more_even(costs: list[int], most: int) -> None:
    costs[-1] = 0
    found = tuple(cheapest_cuts(costs, most))
    ways = every_way(len(costs), most)
    assert found in ways
    assert cost_of(found, costs) == min(cost_of(way, costs) for way in ways)


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 2, 8]), st.integers(0, 4)), min_size=1, max_size=9),
    st.integers(1, 9),
)
def test_words_of_several_tokens_are_cut_as_well_as_can_be(
    words: list[tuple[int, int]], most: int
) -> None:
    costs, sizes = [cost for cost, _ in words], [size for _, size in words]

    def worth(way: tuple[int, ...]) -> tuple[int, int]:
        lengths = [sum(sizes[start:end]) for start, end in itertools.pairwise((0, *way))]
        return cost_of(way, costs)[0], sum(length**2 for length in lengths)

    def fits(way: tuple[int, ...]) -> bool:
        pieces = [sizes[start:end] for start, end in itertools.pairwise((0, *way))]
        return all(sum(piece) <= most or len(piece) == 1 for piece in pieces)

    found = tuple(cheapest_cuts(costs, most, sizes))
    ways = [way for way in every_way(len(costs), len(costs)) if fits(way)]
    assert found in ways
    assert worth(found) == min(worth(way) for way in ways)


@given(st.text(st.sampled_from("ab .,\n马云。!\t"), max_size=200), st.integers(1, 12))
def test_every_character_but_white_space_is_in_one_passage(text: str, most: int) -> None:
    passages = passages_of(Document(text, id="one"), most)
    covered: list[int] = []
    for passage in passages:
        assert passage.text == text[passage.start : passage.end] == passage.text.strip()
        assert passage.document == "one"
        assert len(find_tokens(passage.text, 0, len(passage.text))) <= most
        covered += range(passage.start, passage.end)
    assert covered == sorted(set(covered))
    assert {n for n, sign in enumerate(text) if not sign.isspace()} <= set(covered)


def test_cuts_fall_between_sentences_and_paragraphs() -> None:
    text = "One two three. Four five.\n\nSix seven eight, nine. Ten."
    assert [passage.text for passage in passages_of(Document(text), 8)] == [
        "One two three. Four five.",
        "Six seven eight, nine. Ten.",
    ]
    assert [passage.text for passage in passages_of(Document("a b, c d e f g"), 5)] == [
        "a b,",
        "c d e f g",
    ]


def test_the_sentences_of_the_document_count() -> None:
    text = "a b c d e f"
    document = Document(text, sentences=(Sentence(0, 3), Sentence(4, 11)))
    assert [passage.text for passage in passages_of(document, 4)] == ["a b", "c d e f"]


def test_a_text_that_fits_is_one_passage_and_an_empty_one_none() -> None:
    text = " One.\n\nTwo. "
    (passage,) = passages_of(Document(text, id="x"))
    assert (passage.start, passage.end) == (1, 11)
    assert passages_of(Document(" \n ")) == []


def test_a_word_without_end_is_cut() -> None:
    passages = passages_of(Document("x" * 1000), 5)
    assert "".join(passage.text for passage in passages) == "x" * 1000
    assert max(len(passage.text) for passage in passages) <= 5 * 64


def test_a_very_long_text_is_cut_between_sentences() -> None:
    passages = passages_of(Document("Ada met Bob in Rome. " * 10_000), 160)
    assert len(passages) == 385  # 26 sentences of six words and signs each


def test_a_passage_needs_room_for_a_word() -> None:
    with pytest.raises(InputError, match="passage-words"):
        passages_of(Document("a"), 0)


def test_titles_come_from_the_source() -> None:
    assert title_of(Document("a", attributes={"title": "New_York_City"})) == "New York City"
    assert title_of(Document("a", attributes={"title": 3})) == ""
