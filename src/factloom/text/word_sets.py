"""What a lexicon or a segmenter tells about each character of a sentence.

Ma, Peng, Zhang, Wei, Huang: Simplify the Usage of Lexicon in Chinese NER, ACL 2020,
arXiv 1908.05969. A character begins a word (B), stands in its middle (M), ends it (E), or is one
(S). Three ways to make features of that, all of them sums of weighted rows of a table:

    Softword      one set a character: its position in the word that a segmenter puts it in
    ExSoftword    one set a character: its positions in all words of the lexicon, or O
    SoftLexicon   four sets a character: the words that it begins, is in the middle of, ends, is;
                  a word w weighs 4 z(w) / Z, with Z the sum of z over all four sets. An empty
                  set holds the word NONE, which has z = 1.

z(w) tells how often w was found in the training data where no longer word covers it.
"""

import functools
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from factloom.document import Span
from factloom.text.lexicon import Matcher, Matches, jieba_folder
from factloom.text.vocabulary import Vocabulary

Integers = NDArray[np.int64]
WordRule = Literal["rule", "jieba"]  # by text/tokens.py, or by jieba's segmentation

BEGIN, MIDDLE, END, SINGLE = range(4)
NONE = ""  # the word in empty sets

# Row 0 of a table is for what is not in the vocabulary: here O, no position at all.
POSITIONS = Vocabulary(("B", "M", "E", "S"), learned=4, fixed=0)


@dataclass(frozen=True, slots=True)
class WeightedRows:
    """Rows of a table that are summed up for a character's set, an entry a row."""

    character: Integers  # (entries,)
    set: Integers  # (entries,) 0 where there is one set a character
    row: Integers  # (entries,)
    weight: NDArray[np.float32]  # (entries,)


class WordFeatures(Protocol):
    """Makes the features of sentences."""

    @property
    def sets(self) -> int: ...

    @property
    def vocabulary(self) -> Vocabulary: ...

    def rows(self, sentences: Sequence[Sequence[str]]) -> list[WeightedRows]:
        """Those of each sentence, given by its characters."""


class SoftwordFeatures:
    """Positions in the words of jieba's segmentation."""

    sets = 1
    vocabulary = POSITIONS

    def __init__(self) -> None:
        jieba_folder()  # says what to do where it is missing
        self._segmenter = _jieba_segmenter()

    def rows(self, sentences: Sequence[Sequence[str]]) -> list[WeightedRows]:
        return [self._of_sentence(characters) for characters in sentences]

    def _of_sentence(self, characters: Sequence[str]) -> WeightedRows:
        ends = np.cumsum([len(character) for character in characters])
        word_ends = np.cumsum([len(word) for word in self._segmenter.lcut("".join(characters))])
        begins = np.isin(ends - [len(character) for character in characters], [0, *word_ends])
        finishes = np.isin(ends, word_ends)
        position = np.select(
            [begins & finishes, begins, finishes], [SINGLE, BEGIN, END], default=MIDDLE
        )
        count = len(characters)
        none = np.zeros(count, np.int64)
        return WeightedRows(np.arange(count), none, 1 + position, np.ones(count, np.float32))


class ExSoftwordFeatures:
    """Positions in all words of a lexicon."""

    sets = 1
    vocabulary = POSITIONS

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def rows(self, sentences: Sequence[Sequence[str]]) -> list[WeightedRows]:
        matches = self._matcher.find_all(sentences)
        return [
            self._of_sentence(len(s), found) for s, found in zip(sentences, matches, strict=True)
        ]

    def _of_sentence(self, count: int, matches: Matches) -> WeightedRows:
        _, character, position = positions_of(matches)
        outside = np.setdiff1d(np.arange(count), character)
        pairs = np.column_stack([character, 1 + position])
        pairs = np.unique(np.concatenate([pairs, np.column_stack([outside, 0 * outside])]), axis=0)
        none = np.zeros(len(pairs), np.int64)
        return WeightedRows(pairs[:, 0], none, pairs[:, 1], np.ones(len(pairs), np.float32))


class SoftLexiconFeatures:
    """Words of a lexicon by the position in them, weighted by frequency.

    z(w) is `frequencies[w] + smoothing`: without smoothing, words that the training data did not
    have would count for nothing. The vocabulary's first word is NONE.
    """

    sets = 4

    def __init__(
        self, vocabulary: Vocabulary, frequencies: Mapping[str, int], smoothing: float
    ) -> None:
        self.vocabulary = vocabulary
        self._matcher = Matcher(vocabulary.words)
        counted = [frequencies.get(word, 0) + smoothing for word in vocabulary.words]
        self._frequencies = np.array([1.0, *counted[1:]])

    def rows(self, sentences: Sequence[Sequence[str]]) -> list[WeightedRows]:
        matches = self._matcher.find_all(sentences)
        return [
            self._of_sentence(len(s), found) for s, found in zip(sentences, matches, strict=True)
        ]

    def _of_sentence(self, count: int, matches: Matches) -> WeightedRows:
        match, character, position = positions_of(matches)
        empty = np.ones((count, self.sets), bool)
        empty[character, position] = False
        lonely, vacant = empty.nonzero()
        none = np.zeros(len(lonely), np.int64)  # NONE is the first word
        character, position = np.append(character, lonely), np.append(position, vacant)
        word = np.append(matches[match, 0], none)
        frequency = self._frequencies[word]
        total = np.bincount(character, frequency, minlength=count)  # Z
        weight = self.sets * frequency / np.maximum(total[character], 1e-12)
        return WeightedRows(
            character, position, self.vocabulary.rows_of(word), weight.astype(np.float32)
        )


def positions_of(matches: Matches) -> tuple[Integers, Integers, Integers]:
    """A row for each character of each match: the match, the character, its position."""
    lengths = matches[:, 2] - matches[:, 1]
    match = np.repeat(np.arange(len(matches)), lengths)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)  # of the match's rows
    character = matches[match, 1] + np.arange(len(match)) - first
    begins, ends = character == matches[match, 1], character == matches[match, 2] - 1
    position = np.select([begins & ends, begins, ends], [SINGLE, BEGIN, END], default=MIDDLE)
    return match, character, position


def uncovered(matches: Matches) -> Matches:
    """The matches that lie within no longer one. They come in order of their first token."""
    ordered = matches[np.lexsort((-matches[:, 2], matches[:, 1]))]  # longest first
    furthest = np.maximum.accumulate(ordered[:, 2]) if len(ordered) else ordered[:, 2]
    covered = np.append(-1, furthest[:-1])[: len(ordered)] >= ordered[:, 2]
    return ordered[~covered]


def segmented(text: str) -> list[Span]:
    """The words of jieba's segmentation, as spans of the text."""
    jieba_folder()  # says what to do where it is missing
    return [(start, end) for _, start, end in _jieba_segmenter().tokenize(text)]


@functools.cache  # a second or two, and several models may want it
def _jieba_segmenter() -> Any:
    segmenter = importlib.import_module("jieba").Tokenizer()
    # its own start would load a cache from the folder for temporary files, which anybody may write
    segmenter.FREQ, segmenter.total = segmenter.gen_pfdict(segmenter.get_dict_file())
    segmenter.initialized = True
    return segmenter


def joined_rows(parts: Sequence[WeightedRows], lengths: Sequence[int]) -> WeightedRows:
    """The entries of several texts, their characters counted through all of them."""
    starts = np.cumsum([0, *lengths])
    none = np.zeros(0, np.int64)
    return WeightedRows(
        character=np.concatenate(
            [none, *(p.character + start for p, start in zip(parts, starts, strict=False))]
        ),
        set=np.concatenate([none, *(part.set for part in parts)]),
        row=np.concatenate([none, *(part.row for part in parts)]),
        weight=np.concatenate([np.zeros(0, np.float32), *(part.weight for part in parts)]),
    )
