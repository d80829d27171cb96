"""What a model is sure of, for others to learn from; of the rest nothing is known.

A word is doubtful if what was decided about it, a type or none, is less probable than asked for.
Words that follow each other and are named or doubtful may be one name, so they stand or fall
together: where one of them is doubtful, all become one mention of the type `UNKNOWN_TYPE`.

    the  New   York  Times  of  today        sure of ORG but for "New": ? ? ?
         ORG?  ORG   ORG
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from factloom.document import Mention
from factloom.layouts.word_documents import Integers
from factloom.text.tags import UNKNOWN_TYPE, Booleans


@dataclass(frozen=True, slots=True)
class SentenceWords:
    """The words of a document that are not empty."""

    offsets: Integers  # (words, 2) characters of the text
    sentence: Integers  # (words,)
    doubtful: Booleans  # (words,)

    @classmethod
    def of(cls, offsets: Integers, lengths: Sequence[int], doubtful: Booleans) -> Self:
        """`lengths` are the words of each sentence."""
        there = offsets[:, 0] < offsets[:, 1]
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        return cls(offsets[there], sentence[there], doubtful[there])

    def inside(self, mentions: Iterable[Mention]) -> Booleans:
        """(words,) which are in one of the mentions."""
        taken = np.zeros(len(self.offsets), np.bool_)
        for mention in mentions:
            taken[slice(*np.searchsorted(self.offsets[:, 0], (mention.start, mention.end)))] = True
        return taken

    def with_doubts(self, mentions: Iterable[Mention]) -> Self:
        """The words of these mentions are doubtful, too."""
        return type(self)(self.offsets, self.sentence, self.doubtful | self.inside(mentions))


def sure_mentions(mentions: Sequence[Mention], words: SentenceWords) -> list[Mention]:
    """The mentions that are sure, and what is unknown, in order."""
    unknown = _unknown(words, words.doubtful | words.inside(mentions))
    lost = words.inside(unknown)
    first = np.searchsorted(words.offsets[:, 0], [mention.start for mention in mentions])
    sure = [mention for mention, word in zip(mentions, first, strict=True) if not lost[word]]
    return sorted([*unknown, *sure], key=lambda mention: mention.start)


def _unknown(words: SentenceWords, chosen: Booleans) -> list[Mention]:
    """The chosen words that follow each other within a sentence, where one is doubtful."""
    state = np.where(chosen, words.sentence, -1)
    changes = np.flatnonzero(np.diff(state) != 0) + 1
    return [
        Mention(int(words.offsets[start, 0]), int(words.offsets[end - 1, 1]), UNKNOWN_TYPE)
        for start, end in pairwise([0, *changes.tolist(), len(state)])
        if start < end and chosen[start] and words.doubtful[start:end].any()
    ]
