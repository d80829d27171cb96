"""What is sure stays; words that follow each other stand or fall together."""

import numpy as np
import pytest
import torch

from factloom.document import Mention
from factloom.models.sure_mentions import sure_mentions
from factloom.models.word_runs import doubtful_words

# eight words of two characters with a space between, in sentences of five and three
OFFSETS = np.array([(3 * word, 3 * word + 2) for word in range(8)])
LENGTHS = (5, 3)


def mention(first: int, last: int, kind: str) -> Mention:
    return Mention(3 * first, 3 * last + 2, kind, 0.9)


def sure(mentions: list[Mention], *doubtful: int) -> list[tuple[int, int, str]]:
    """First and last word and type of each."""
    doubts = np.zeros(8, bool)
    doubts[list(doubtful)] = True
    found = sure_mentions(mentions, OFFSETS, LENGTHS, doubts)
    return [(one.start // 3, one.end // 3, one.type) for one in found]


def test_sure_mentions_stay_with_their_scores() -> None:
    found = [mention(0, 1, "PER"), mention(2, 2, "LOC"), mention(6, 7, "ORG")]
    kept = sure_mentions(found, OFFSETS, LENGTHS, np.zeros(8, bool))
    assert kept == found


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
    assert sure_mentions([], nothing, (), np.zeros(0, bool)) == []


# --- words that a classifier a type is not sure of ----------------------------------------------


def test_a_type_is_as_probable_as_its_odds_among_all() -> None:
    scores = torch.tensor([[2.0, -3.0], [-2.0, -2.0], [2.0, 1.9], [-9.0, -9.0]])
    # odds e^2 : e^-3 : 1 give 0.87; 1 : 2 e^-2 give 0.79; e^2 : e^1.9 : 1 give 0.49
    for least, expected in [
        (0.4, [False, False, False, False]),
        (0.5, [False, False, True, False]),
        (0.8, [False, True, True, False]),
        (0.9, [True, True, True, False]),
    ]:
        assert doubtful_words(scores, [1, 1, 1, 1], least).tolist() == expected


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [([4], [False, True, True, False]), ([2, 2], [False, False, False, False])],
)
def test_words_beside_another_type_are_doubtful(lengths: list[int], expected: list[bool]) -> None:
    scores = torch.tensor([[9.0, -9.0], [9.0, -9.0], [-9.0, 9.0], [-9.0, 9.0]])
    assert doubtful_words(scores, lengths, 0.5).tolist() == expected
