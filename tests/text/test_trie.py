"""Words found from all places at once, against a search of every word at every place."""

from hypothesis import given
from hypothesis import strategies as st

from factloom.text.trie import Trie

Found = list[tuple[int, int, int]]


def found_by_search(words: list[str], text: str) -> Found:
    return [
        (number, start, start + len(word))
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
        for number, word in enumerate(words)
        if word == text[start:end]
    ]


def found_by_trie(words: list[str], text: str) -> Found:
    columns = (column.tolist() for column in Trie(words).find(text))
    return list(zip(*columns, strict=True))


@given(
    st.lists(st.text("ab马𠮷", min_size=1, max_size=5), max_size=12),
    st.text("abc马𠮷😀\n", max_size=30),
)
def test_all_matches_are_found_in_order(words: list[str], text: str) -> None:
    assert found_by_trie(words, text) == found_by_search(words, text)


@given(st.lists(st.text(min_size=1, max_size=3), max_size=6), st.text(max_size=10))
def test_any_characters_may_stand_in_words_and_texts(words: list[str], text: str) -> None:
    text = text.join(words)
    assert found_by_trie(words, text) == found_by_search(words, text)


def test_words_spelled_alike_are_all_found() -> None:
    assert found_by_trie(["桥", "大桥", "桥", "桥"], "大桥") == [
        (1, 0, 2),
        (0, 1, 2),
        (2, 1, 2),
        (3, 1, 2),
    ]


def test_a_long_word_and_what_it_begins_with_are_found() -> None:
    words = ["a" * length for length in (1, 40, 200)]
    found = found_by_trie(words, "a" * 200)
    assert [number for number, _, _ in found].count(0) == 200
    assert [number for number, _, _ in found].count(1) == 161
    assert found[2] == (2, 0, 200)


def test_lone_surrogates_are_characters_like_others() -> None:
    assert found_by_trie(["\ud800"], "a\ud800") == [(0, 1, 2)]
