"""Search by words: BM25 against the formula, Chinese by pairs, removal, one writer."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from factloom.answers.word_index import WordIndex, spaced
from factloom.errors import InputError

TEXTS = [
    "The cat sat on the mat.",
    "A cat and another cat met a dog in Paris, which is large.",
    "Dogs run.",
    "马云出生于杭州。",
]


def filled(directory: Path | None = None) -> WordIndex:
    index = WordIndex(directory)
    index.begin()
    index.add(range(10, 10 + len(TEXTS)), TEXTS)
    index.commit()
    index.end()
    return index


def naive_scores(index: WordIndex, question: str) -> dict[int, float]:
    counted = [Counter(index._analyzer.analyze(spaced(text))) for text in TEXTS]
    mean = sum(one.total() for one in counted) / len(counted)
    scores: dict[int, float] = {}
    for word in index.words(question):
        having = sum(word in one for one in counted)
        rarity = math.log(1 + (len(TEXTS) - having + 0.5) / (having + 0.5))
        for number, one in enumerate(counted, start=10):
            if often := one[word]:
                part = often * 2.2 / (often + 1.2 * (0.25 + 0.75 * one.total() / mean))
                scores[number] = scores.get(number, 0) + rarity * part
    return scores


@pytest.mark.parametrize("question", ["cat", "Which dog met a cat?", "running dogs", "杭州", "zzz"])
def test_scores_are_those_of_the_formula(question: str) -> None:
    index = filled()
    expected = naive_scores(index, question)
    found = index.search(question, 10)
    assert dict(found) == pytest.approx(expected, rel=1e-3)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)


def test_signs_of_a_query_language_are_no_queries() -> None:
    assert filled().search('AND ( "cat: +[TO -dog~ * ', 1)[0][0] == 11
    assert filled().search("?!", 5) == []


def test_chinese_is_found_without_a_dictionary() -> None:
    assert [number for number, _ in filled().search("谁出生于杭州？", 5)] == [13]


def test_a_question_of_ten_thousand_words_is_answered() -> None:
    long = " ".join(["cat", *(f"word{number}" for number in range(10_000))])
    assert {number for number, _ in filled().search(long, 5)} == {10, 11}


def test_some_can_be_left_out_and_scores_stay() -> None:
    index = filled()
    (only,) = index.search("cat", 5, np.array([10, 12]))
    assert only in index.search("cat", 5)


def test_what_is_removed_is_not_found(tmp_path: Path) -> None:
    index = filled(tmp_path)
    index.begin()
    index.remove([11])
    index.remove_from(13)
    index.commit()
    index.end()
    assert len(WordIndex(tmp_path)) == 2
    assert [number for number, _ in index.search("cat 杭州", 5)] == [10]


def test_what_is_not_committed_is_forgotten(tmp_path: Path) -> None:
    index = filled(tmp_path)
    index.begin()
    index.add([20], ["never"])
    index.end()
    assert WordIndex(tmp_path).search("never", 5) == []


def test_one_writes_at_a_time(tmp_path: Path) -> None:
    index = filled(tmp_path)
    index.begin()
    with pytest.raises(InputError, match="index-in-use"):
        WordIndex(tmp_path).begin()
    index.end()
    other = WordIndex(tmp_path)
    other.begin()
    other.end()
