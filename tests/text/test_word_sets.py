"""Softword, ExSoftword and SoftLexicon against plain loops over characters and words."""

import importlib.util
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.errors import ModelError
from factloom.text.lexicon import Matcher
from factloom.text.vocabulary import Vocabulary
from factloom.text.word_sets import (
    NONE,
    ExSoftwordFeatures,
    SoftLexiconFeatures,
    SoftwordFeatures,
    WeightedRows,
    joined_rows,
    uncovered,
)

lexicons = st.lists(st.text("甲乙丙", min_size=1, max_size=4), max_size=8, unique=True)
texts = st.text("甲乙丙丁", max_size=12)


def found_words(words: Sequence[str], text: str) -> list[tuple[str, int, int]]:
    return [
        (text[start:end], start, end)
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
        if text[start:end] in words
    ]


def position(place: int, start: int, end: int) -> str:
    if end - start == 1:
        return "S"
    return {start: "B", end - 1: "E"}.get(place, "M")


def as_set(rows: WeightedRows) -> list[tuple[int, int, int, float]]:
    columns = (rows.character, rows.set, rows.row, rows.weight)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


# --- ExSoftword ------------------------------------------------------------------------------


@given(lexicons, texts)
def test_exsoftword_has_every_possible_position_once(words: list[str], text: str) -> None:
    expected = []
    for place in range(len(text)):
        held = [m for m in found_words(words, text) if m[1] <= place < m[2]]
        letters = {position(place, start, end) for _, start, end in held}
        rows = {"BMES".index(letter) + 1 for letter in letters} or {0}
        expected += [(place, 0, row, 1.0) for row in rows]
    found = ExSoftwordFeatures(Matcher(words)).rows([text])[0]
    assert as_set(found) == sorted(expected)


# --- SoftLexicon -----------------------------------------------------------------------------


def soft_lexicon_by_loops(
    vocabulary: Vocabulary, counts: dict[str, int], smoothing: float, text: str
) -> list[tuple[int, int, int, float]]:
    expected = []
    for place in range(len(text)):
        sets: dict[str, list[str]] = {letter: [] for letter in "BMES"}
        for word, start, end in found_words(vocabulary.words, text):
            if start <= place < end:
                sets[position(place, start, end)].append(word)
        for words in sets.values():
            if not words:
                words.append(NONE)
        z = {word: counts.get(word, 0) + smoothing for words in sets.values() for word in words}
        z[NONE] = 1.0
        total = sum(z[word] for words in sets.values() for word in words)
        for number, words in enumerate(sets.values()):
            for word in words:
                index = vocabulary.words.index(word)
                row = index + 1 if index < vocabulary.learned + vocabulary.fixed else 0
                expected.append((place, number, row, 4 * z[word] / total))
    return sorted(expected)


@given(
    lexicons, texts, st.dictionaries(st.text("甲乙丙", max_size=4), st.integers(0, 9)), st.data()
)
def test_soft_lexicon_equals_a_loop_over_characters_and_words(
    words: list[str], text: str, counts: dict[str, int], data: st.DataObject
) -> None:
    smoothing = data.draw(st.sampled_from([1.0, 0.25]))
    learned = data.draw(st.integers(0, len(words)))
    vocabulary = Vocabulary((NONE, *words), learned=1 + learned, fixed=0)
    found = as_set(SoftLexiconFeatures(vocabulary, counts, smoothing).rows([text])[0])
    expected = soft_lexicon_by_loops(vocabulary, counts, smoothing, text)
    assert [entry[:3] for entry in found] == [entry[:3] for entry in expected]
    assert sorted(e[3] for e in found) == pytest.approx(sorted(e[3] for e in expected), rel=1e-6)
    by_place = np.bincount([e[0] for e in found], [e[3] for e in found], minlength=len(text))
    assert by_place == pytest.approx(np.full(len(text), 4.0))


def test_soft_lexicon_weighs_by_frequency_over_all_four_sets() -> None:
    vocabulary = Vocabulary((NONE, "市", "市长", "长江"), learned=4, fixed=0)
    counts = {"市": 6, "市长": 3, "长江": 1}
    found = SoftLexiconFeatures(vocabulary, counts, 0.0).rows(["市长江"])[0]
    weights = {(c, s, r): w for c, s, r, w in as_set(found)}
    total = 6 + 3 + 1 + 1  # 市 is a word and begins one; its M and E are empty
    assert weights[0, 3, 2] == pytest.approx(4 * 6 / total)
    assert weights[0, 0, 3] == pytest.approx(4 * 3 / total)
    assert weights[0, 1, 1] == weights[0, 2, 1] == pytest.approx(4 * 1 / total)


def test_words_that_were_never_seen_do_not_divide_by_zero() -> None:
    words = ("甲", "甲乙", "丙甲", "丙甲乙")  # 甲 is in all four sets, which hold no NONE
    vocabulary = Vocabulary((NONE, *words), learned=1, fixed=0)
    found = SoftLexiconFeatures(vocabulary, {}, 0.0).rows(["丙甲乙"])[0]
    assert np.isfinite(found.weight).all()
    assert found.weight[found.character == 1].tolist() == [0.0] * 4


# --- frequencies -----------------------------------------------------------------------------


def test_a_word_covered_by_a_longer_one_does_not_count() -> None:
    words = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥"]
    matcher = Matcher(words)
    kept = uncovered(matcher.find("南京市长江大桥"))
    assert [words[word] for word, _, _ in kept] == ["南京市", "市长", "长江大桥"]
    alone = uncovered(matcher.find("南京大桥"))
    assert [words[word] for word, _, _ in alone] == ["南京", "大桥"]


@given(lexicons, texts)
def test_uncovered_matches_equal_a_comparison_of_all_pairs(words: list[str], text: str) -> None:
    matches = Matcher(words).find(text)
    expected = [
        match
        for match in matches.tolist()
        if not any(
            other[1] <= match[1] and match[2] <= other[2] and other[1:] != match[1:]
            for other in matches.tolist()
        )
    ]
    assert uncovered(matches).tolist() == expected


# --- Softword --------------------------------------------------------------------------------


class Segmenter:
    """Cuts where it is told."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def lcut(self, text: str) -> list[str]:
        assert text == "".join(self.words)
        return self.words


@pytest.mark.parametrize(
    ("words", "tokens", "letters"),
    [
        (["南京市", "长江", "大", "桥"], "南京市长江大桥", "BMEBESS"),
        (["New", "York"], ["N", "ew", "York"], "BES"),
        (["2号", "线"], ["2号线"], "S"),  # a token over several words
        (["号线", "路"], ["号", "线路"], "BE"),
        ([], "", ""),
    ],
)
def test_softword_is_the_position_in_the_segmenters_word(
    words: list[str], tokens: list[str], letters: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    features = SoftwordFeatures()
    monkeypatch.setattr(features, "_segmenter", Segmenter(words))
    found = features.rows([tokens])[0]
    assert ["OBMES"[row] for row in found.row] == list(letters)
    assert found.character.tolist() == list(range(len(tokens)))
    assert found.weight.tolist() == [1.0] * len(tokens)


def test_softword_asks_jieba() -> None:
    found = SoftwordFeatures().rows(["我在北京大学"])[0]
    assert ["OBMES"[row] for row in found.row] == list("SSBMME")


def test_softword_without_jieba_tells_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ModelError) as caught:
        SoftwordFeatures()
    assert caught.value.code == "jieba-missing"


# --- several texts ---------------------------------------------------------------------------


def test_joined_texts_count_their_characters_on() -> None:
    features = ExSoftwordFeatures(Matcher(["甲乙"]))
    first, second = features.rows(["丙甲乙", "甲乙"])
    joined = joined_rows([first, second], [3, 2])
    assert joined.character.tolist() == [0, 1, 2, 3, 4]
    assert joined.row.tolist() == [*first.row, *second.row]
    assert joined_rows([], []).weight.dtype == np.float32
