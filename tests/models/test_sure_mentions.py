"""What is sure stays; words that follow each other stand or fall together."""

import numpy as np
import pytest
import torch

from factloom.document import Mention
from factloom.layouts.word_documents import WordExample
from factloom.models.sure_mentions import SentenceWords, sure_mentions
from factloom.models.word_runs import doubtful_words

# eight words of two characters with a space between, in sentences of five and three
OFFSETS = np.array([(3 * word, 3 * word + 2) for word in range(8)])
LENGTHS = (5, 3)


def mention(first: int, last: int, kind: str) -> Mention:
    return Mention(3 * first, 3 * last + 2, kind, 0.9)


def words(*doubtful: int) -> SentenceWords:
    doubts = np.zeros(8, bool)
    doubts[list(doubtful)] = True
    return SentenceWords.of(OFFSETS, LENGTHS, doubts)


def sure(mentions: list[Mention], *doubtful: int) -> list[tuple[int, int, str]]:
    """First and last word and type of each."""
    found = sure_mentions(mentions, words(*doubtful))
    return [(one.start // 3, one.end // 3, one.type) for one in found]


def test_sure_mentions_stay_with_their_scores() -> None:
    found = [mention(0, 1, "PER"), mention(2, 2, "LOC"), mention(6, 7, "ORG")]
    assert sure_mentions(found, words()) == found


def test_all_words_of_a_doubted_mention_are_doubtful() -> None:
    found = [mention(0, 1, "PER"), mention(3, 4, "LOC")]
    doubts = words(2).with_doubts(found[1:]).doubtful
    assert doubts.tolist() == [False, False, True, True, True, False, False, False]


def test_a_doubtful_word_takes_its_mention_with_it() -> None:
    found = [mention(0, 2, "PER"), mention(4, 4, "LOC")]
    assert sure(found, 1) == [(0, 2, "?"), (4, 4, "LOC")]


def test_a_doubtful_word_takes_what_it_touches_with_it() -> None:
    found = [mention(0, 1, "PER"), mention(3, 3, "LOC")]
    assert sure(found, 2) == [(0, 3, "?")]


def test_a_doubtful_word_alone_is_unknown() -> None:
    assert sure([mention(0, 0, "PER")], 2, 3) == [(0, 0, "PER"), (2, 3, "?")]


def test_doubt_does_not_reach_the_next_sentence() -> None:
    assert sure([mention(5, 5, "PER")], 4) == [(4, 4, "?"), (5, 5, "PER")]


def test_no_words_have_no_mentions() -> None:
    nothing = np.zeros((0, 2), int)
    assert sure_mentions([], SentenceWords.of(nothing, (), np.zeros(0, bool))) == []


def test_empty_words_neither_doubt_nor_part() -> None:
    offsets = np.array([(0, 1), (1, 1), (1, 3), (4, 4), (5, 5)])
    doubts = np.array([False, True, False, True, True])
    person = Mention(1, 3, "PER", 0.9)
    assert sure_mentions([person], SentenceWords.of(offsets, (2, 3), doubts)) == [person]


# --- words that a classifier a type is not sure of ----------------------------------------------


def example(lengths: list[int], offsets: list[tuple[int, int]] | None = None) -> WordExample:
    """Words without anything that a classifier has to know of them."""
    count, nothing = sum(lengths), np.zeros(0, int)
    places = np.array(offsets or [(3 * word, 3 * word + 2) for word in range(count)])
    return WordExample(
        id="",
        token_ids=nothing,
        shapes=nothing,
        first=nothing,
        last=nothing,
        lengths=tuple(lengths),
        offsets=places,
        tags=np.zeros(count, int),
    )


def doubts(scores: list[list[float]], lengths: list[int], least: float) -> list[bool]:
    return doubtful_words(example(lengths), torch.tensor(scores), least).doubtful.tolist()


def test_a_type_is_as_probable_as_its_odds_among_all() -> None:
    scores = [[2.0, -3.0], [-2.0, -2.0], [2.0, 1.9], [-9.0, -9.0]]
    # odds e^2 : e^-3 : 1 give 0.87; 1 : 2 e^-2 give 0.79; e^2 : e^1.9 : 1 give 0.49
    for least, expected in [
        (0.4, [False, False, False, False]),
        (0.5, [False, False, True, False]),
        (0.8, [False, True, True, False]),
        (0.9, [True, True, True, False]),
    ]:
        assert doubts(scores, [1, 1, 1, 1], least) == expected


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [([4], [False, True, True, False]), ([2, 2], [False, False, False, False])],
)
def test_words_beside_another_type_are_doubtful(lengths: list[int], expected: list[bool]) -> None:
    scores = [[9.0, -9.0], [9.0, -9.0], [-9.0, 9.0], [-9.0, 9.0]]
    assert doubts(scores, lengths, 0.5) == expected


def test_an_empty_word_does_not_keep_names_apart() -> None:
    scores = torch.tensor([[9.0, -9.0], [-9.0, -9.0], [-9.0, 9.0]])
    words = example([3], [(0, 2), (2, 2), (3, 5)])
    assert doubtful_words(words, scores, 0.5).doubtful.tolist() == [True, True]
