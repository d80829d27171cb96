"""How alike answers are: against the official scripts, written down again from their formulas."""

import doctest
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

import factloom.text.answer_words
from factloom.text.answer_words import best_likeness, likeness, same_answer

words = st.lists(st.sampled_from(["the", "A", "an", "Red", "red", "house,", "houses", "...", "b"]))
answers = words.map(" ".join)
chinese = st.text("马云出生于，。杭a 1（", max_size=8)


def normal(text: str) -> str:
    """SQuAD's: lower case, no signs, no articles, single spaces."""
    bare = "".join(sign for sign in text.lower() if sign not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def squad_f1(answer: str, gold: str) -> float:
    found, wanted = normal(answer).split(), normal(gold).split()
    if not found or not wanted:
        return float(found == wanted)
    left, same = list(wanted), 0
    for word in found:
        if word in left:
            left.remove(word)
            same += 1
    if not same:
        return 0.0
    precision, recall = same / len(found), same / len(wanted)
    return 2 * precision * recall / (precision + recall)


@given(answers, answers)
def test_english_answers_are_compared_as_squad_does(answer: str, gold: str) -> None:
    assert likeness(answer, gold) == pytest.approx(squad_f1(answer, gold))
    assert same_answer(answer, gold) == (normal(answer) == normal(gold))


def pieces(text: str) -> list[str]:
    """CMRC's segments without signs: each Chinese character, and the words between."""
    found, word = [], ""
    for sign in text.lower().strip():
        if sign in "，。（":
            continue
        if "\u4e00" <= sign <= "\u9fa5":
            found += [*word.split(), sign]
            word = ""
        else:
            word += sign
    return found + word.split()


def cmrc_f1(answer: str, gold: str) -> float:
    found, wanted = pieces(answer), pieces(gold)
    longest = max(
        (
            size
            for size in range(1, len(found) + 1)
            for a in range(len(found) - size + 1)
            for b in range(len(wanted) - size + 1)
            if found[a : a + size] == wanted[b : b + size]
        ),
        default=0,
    )
    if not found or not wanted:
        return float(found == wanted)
    precision, recall = longest / len(found), longest / len(wanted)
    return 2 * precision * recall / (precision + recall) if longest else 0.0


@given(chinese, chinese.map(lambda text: f"{text}杭"))
def test_chinese_answers_are_compared_as_cmrc_does(answer: str, gold: str) -> None:
    assert likeness(answer, gold) == pytest.approx(cmrc_f1(answer, gold))
    assert likeness(gold, answer) == pytest.approx(cmrc_f1(gold, answer))


def test_signs_and_spaces_at_the_edges_make_no_chinese_answer_another() -> None:
    assert same_answer(" 《马云》。", "马云")
    assert not same_answer("马云", "云马")
    assert likeness("马云出生", "出生马云") == 0.5  # a stretch, no bag of characters
    assert likeness("1998年", "1998") == pytest.approx(2 / 3)


def test_the_best_of_several_gold_answers_counts() -> None:
    assert best_likeness("red house", ["blue", "the red house", "red"]) == 1.0
    assert best_likeness("red house", []) == 0.0


def test_doctests_of_the_module_hold() -> None:
    assert doctest.testmod(factloom.text.answer_words).failed == 0
