"""What a model is sure of, for others to learn from; of the rest nothing is known.

A word is doubtful if what was decided about it, a type or none, is less probable than asked for.
Words that follow each other and are named or doubtful may be one name, so they stand or fall
together: where one of them is doubtful, all become one mention of the type `UNKNOWN_TYPE`.

    the  New   York  Times  of  today        sure of ORG but for "New": ? ? ?
         ORG?  ORG   ORG
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from factloom.document import Mention
from factloom.encoders.word_documents import Integers
from factloom.text.tags import UNKNOWN_TYPE

Booleans = NDArray[np.bool_]


def sure_mentions(
    mentions: Sequence[Mention], offsets: Integers, lengths: Sequence[int], doubtful: Booleans
) -> list[Mention]:
    """The mentions that are sure, and what is unknown, in order.

    `offsets` (words, 2) are the characters of the document's words, `lengths` the words of each
    sentence, `doubtful` is (words,).
    """
    first = np.searchsorted(offsets[:, 0], [mention.start for mention in mentions])
    behind = np.searchsorted(offsets[:, 0], [mention.end for mention in mentions])
    open_words = doubtful.copy()
    for start, end in zip(first, behind, strict=True):
        open_words[start:end] = True
    unknown = [
        (start, end) for start, end in _runs(open_words, lengths) if doubtful[start:end].any()
    ]
    lost = np.zeros(len(doubtful), np.bool_)
    for start, end in unknown:
        lost[start:end] = True
    spans = [(int(offsets[start, 0]), int(offsets[end - 1, 1])) for start, end in unknown]
    found = [Mention(*span, UNKNOWN_TYPE) for span in spans if span[0] < span[1]]  # or empty words
    found += [mention for mention, word in zip(mentions, first, strict=True) if not lost[word]]
    return sorted(found, key=lambda mention: mention.start)


def _runs(chosen: Booleans, lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and end of the chosen words that follow each other within a sentence."""
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    state = np.where(chosen, sentence, -1)
    changes = np.flatnonzero(np.diff(state) != 0) + 1
    for start, end in pairwise([0, *changes.tolist(), len(state)]):
        if start < end and chosen[start]:
            yield start, end
