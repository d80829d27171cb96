"""Which words a model knows: learned, fixed and nameless ones, and the rows of each."""

from collections import Counter

import numpy as np

from factloom.text.vocabulary import Vocabulary, learn_vocabulary

SEEN = Counter({"甲": 5, "乙": 2, "丙": 1, "丁": 1, "戊": 2})


def test_words_seen_twice_or_with_a_vector_are_learned_most_frequent_first() -> None:
    found = learn_vocabulary(SEEN, has_vector={"丁", "己"}.__contains__)
    assert found.known == ("甲", "乙", "戊", "丁")
    assert (found.learned, found.fixed) == (4, 0)


def test_words_that_may_come_are_fixed_with_a_vector_and_nameless_without() -> None:
    found = learn_vocabulary(SEEN, ["己", "甲", "丙", "庚", "己"], {"丁", "己"}.__contains__)
    assert found.words == ("甲", "乙", "戊", "丁", "己", "丙", "庚")
    assert (found.learned, found.fixed) == (4, 1)
    assert found.known == found.words[:5]


def test_row_zero_is_for_the_nameless_and_the_unknown() -> None:
    found = Vocabulary(("甲", "乙", "丙", "丁"), learned=2, fixed=1)
    assert found.rows(["丙", "甲", "丁", "戊", "乙"]).tolist() == [3, 1, 0, 0, 2]
    assert found.rows_of(np.array([2, 0, 3, 1])).tolist() == [3, 1, 0, 2]
    assert found.rows([]).dtype == np.int64


def test_it_comes_back_from_its_configuration() -> None:
    found = Vocabulary(("甲", "\n", ""), learned=1, fixed=1)
    assert Vocabulary.from_config(found.to_config()) == found
