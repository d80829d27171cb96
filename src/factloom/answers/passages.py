"""Documents cut into passages: stretches of text that are found, and read, as one.

The cutter of CogLTX (Ding, Zhou, Yang, Tang: CogLTX: Applying BERT to Long Texts, NeurIPS 2020): of
all ways to cut a text into blocks of at most `most_words` words, the cheapest, where

    cost = sum over blocks of (4 + cost of the cut behind it)
    cost of a cut: 0 between paragraphs, 1 between sentences, 2 behind a comma, 8 elsewhere

The cheapest way is found from left to right: best(j) = 4 + cut(j) + min over i of best(i), where i
lies at most `most_words` before j. Of several ways that cost the same, that with the most even
blocks is taken. Sentences are the document's own, or found by rule; words are those of
text/tokens.py, a Chinese character or a sign being one, and words of more than 64 characters, which
no text has, several.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document, Span
from factloom.errors import InputError
from factloom.graph.identifiers import document_key
from factloom.text.sentences import split_sentences
from factloom.text.tokens import find_tokens

MOST_WORDS = 160  # about as many as the default encoder was trained to put into a vector

BLOCK, BETWEEN_SENTENCES, BEHIND_COMMA, ELSEWHERE = 4, 1, 2, 8
_COMMAS = frozenset(",;:，、；：")
_LONGEST_WORD = 64  # characters


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document's text: `text` is that of characters `start` to `end`, half-open."""

    document: str
    start: int
    end: int
    text: str

    def place(self) -> dict[str, Any]:
        """Where it stands, as JSON has it."""
        return {"document": self.document, "start": self.start, "end": self.end}


def passages_of(document: Document, most_words: int = MOST_WORDS) -> list[Passage]:
    """The passages of a document, in order, without white space at their edges.

    Every character that is no white space lies in exactly one of them.
    """
    if most_words < 1:
        raise InputError("passage-words", words=most_words)
    key, text = document_key(document), document.text
    words = list(pieces_of(text))
    costs = cut_costs(document, words) if len(words) > most_words else []
    ends = cheapest_cuts(costs, most_words) if costs else [len(words)] if words else []
    return [
        Passage(key, words[first][0], words[end - 1][1], text[words[first][0] : words[end - 1][1]])
        for first, end in pairwise([0, *ends])
    ]


def title_of(document: Document) -> str:
    """What the document is about, in the words of its source; empty where it does not say."""
    title = document.attributes.get("title")
    return title.replace("_", " ").strip() if isinstance(title, str) else ""


def headed(title: str, text: str) -> str:
    """A passage as it is indexed: behind the title of its document, which says what it is about."""
    return text if not title or text.startswith(title) else f"{title}\n{text}"


def cut_costs(document: Document, words: list[Span]) -> list[int]:
    """What a cut behind each word costs; the last one, the end of the text, costs nothing."""
    text = document.text
    spans = [(sentence.start, sentence.end) for sentence in document.sentences]
    starts = np.array([start for start, _ in spans or split_sentences(text)])
    ends, begins = np.array([end for _, end in words]), np.array([start for start, _ in words])
    # a sentence begins between two words
    between = np.searchsorted(starts, begins[1:], "right") > np.searchsorted(
        starts, begins[:-1], "right"
    )  # (words - 1,)
    costs = [
        _cut_cost(text, int(end), int(begin), bool(new))
        for end, begin, new in zip(ends[:-1], begins[1:], between, strict=True)
    ]
    return [*costs, 0]


def cheapest_cuts(costs: list[int], most: int, sizes: Sequence[int] | None = None) -> list[int]:
    """Where blocks end, as numbers of words, such that blocks and cuts are cheapest together.

    No block is larger than `most`, unless a single word is; `sizes` are those of the words, 1 each
    if not given.

    >>> cheapest_cuts([8, 1, 8, 8, 8, 0], 4)
    [2, 6]
    """
    count = len(costs)
    behind = np.concatenate([[0], np.cumsum([1] * count if sizes is None else sizes)])  # (words+1,)
    earliest = np.searchsorted(behind, behind - most)  # the first word of the longest block
    # cost first, then the squares of the lengths: a sum of squares is less than one unit of cost
    unit = int(behind[-1]) * max(most, int(np.diff(behind).max(initial=0))) + 1
    best: NDArray[np.int64] = np.zeros(count + 1, np.int64)
    before = np.zeros(count + 1, np.int64)
    for end in range(1, count + 1):
        first = min(int(earliest[end]), end - 1)
        candidates = best[first:end] + (behind[end] - behind[first:end]) ** 2
        chosen = int(candidates.argmin())
        before[end] = first + chosen
        best[end] = candidates[chosen] + (BLOCK + costs[end - 1]) * unit
    ends = [count]
    while (earlier := int(before[ends[-1]])) > 0:
        ends.append(earlier)
    return ends[::-1]


def _cut_cost(text: str, end: int, begin: int, between_sentences: bool) -> int:
    if between_sentences:
        return 0 if "\n" in text[end:begin] else BETWEEN_SENTENCES
    return BEHIND_COMMA if text[end - 1] in _COMMAS else ELSEWHERE


def pieces_of(text: str) -> Iterator[Span]:
    """The words, and what is too long for one in pieces."""
    for start, end in find_tokens(text, 0, len(text)):
        for piece in range(start, end, _LONGEST_WORD):
            yield piece, min(piece + _LONGEST_WORD, end)
