"""From a score for each type of each word to mentions: neighbours of one type are one mention."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from factloom.layouts.word_documents import WordExample
from factloom.models.sure_mentions import SentenceWords


@dataclass(frozen=True, slots=True)
class WordRun:
    """A mention before its score."""

    start: int
    end: int
    type: str
    margin: float  # the lowest score of its words


def doubtful_words(example: WordExample, scores: Tensor, least: float) -> SentenceWords:
    """The words, doubtful where a type, or none, is less probable by the scores (words, types).

    As a word has one type at most, p_t = exp(g_t) / (1 + sum over types of exp(g)). Beside a
    neighbour of another type in the same sentence both are doubtful.
    """
    none = scores.new_zeros(len(scores), 1)
    probability, kind = torch.cat([none, scores], 1).double().softmax(1).max(1)
    words = SentenceWords.of(example.offsets, example.lengths, (probability < least).numpy())
    kinds = kind.numpy()[example.offsets[:, 0] < example.offsets[:, 1]]
    named = (kinds[:-1] > 0) & (kinds[1:] > 0)
    touch = named & (kinds[:-1] != kinds[1:]) & (words.sentence[:-1] == words.sentence[1:])
    words.doubtful[:-1] |= touch
    words.doubtful[1:] |= touch
    return words


def runs_of_words(example: WordExample, scores: Tensor, types: Sequence[str]) -> list[WordRun]:
    """Neighbouring words of a sentence whose highest score (words, types) is for the same type.

    Words without a score above 0 are of no type. Words that are empty in their source do not count.
    """
    there = example.offsets[:, 0] < example.offsets[:, 1]
    offsets = example.offsets[there]
    highest, best = (part.numpy()[there] for part in scores.max(1))
    kind = np.where(highest > 0, best, -1)
    sentence = np.repeat(np.arange(len(example.lengths)), example.lengths)[there]
    changes = np.flatnonzero((np.diff(kind) != 0) | (np.diff(sentence) != 0)) + 1
    return [
        WordRun(
            start=int(offsets[first, 0]),
            end=int(offsets[end - 1, 1]),
            type=types[kind[first]],
            margin=float(highest[first:end].min()),
        )
        for first, end in pairwise([0, *changes.tolist(), len(kind)])
        if first < end and kind[first] >= 0
    ]
