"""Which relation a phrase means: "where did X study" -> educated at, "who studied at X" -> back.

A phrase is compared with those of every sense (text/relation_phrases.py), and the likest counts.

    words     cosine of two bags of stems, rare ones counting more; and of two bags of stems with
              the side of X on which they stand, which tells "X founded" from "founded X"
    meaning   cosine of the sentence vectors of both phrases, where there is an encoder
    score     sigmoid(a + b words + c meaning)
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from factloom.answers.meaning import Meaning
from factloom.text.relation_phrases import Sense
from factloom.text.word_stems import stem


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORD = re.compile(r"[\w-]+")
_EMPTY = _set_of(
    "the a an is are was were be been being did does do has have had s that which it its his her "
    "their this there and or also please name list all tell me listed credited"
)
_SIDED = 0.4  # how much of the likeness of words counts the side of X
_REMEMBERED = 4096

# a, b, c. How much meaning counts beside words is chosen on SimpleQuestions, train part
# (benchmarks/question_relations.py --fit); the scale is such that a phrase of the table is sure.
_WITHOUT_MEANING = (-5.5, 9.0)
_WITH_MEANING = (-7.5, 5.0, 6.0)


@dataclass(frozen=True, slots=True)
class Meant:
    """A sense that a phrase may have."""

    sense: Sense
    score: float  # how probable it is


class SenseFinder:
    """Finds the senses of phrases in which X stands for what is known."""

    def __init__(self, senses: Sequence[Sense], meaning: Meaning | None = None) -> None:
        self.senses = senses
        self.meaning = meaning
        self.owner = np.array([i for i, sense in enumerate(senses) for _ in sense.phrases])
        self.phrases = [phrase for sense in senses for phrase in sense.phrases]
        bags = [_bag(phrase) for phrase in self.phrases]
        counts = Counter(feature for bag in bags for feature in bag)
        self._rarity = {key: math.log(1 + len(bags) / count) for key, count in counts.items()}
        self._unseen = math.log(1 + len(bags))
        self._number = {feature: index for index, feature in enumerate(counts)}
        self._matrix = self._rows(bags)  # (phrases, features)
        self._vectors: NDArray[np.float32] | None = None
        self.find = lru_cache(_REMEMBERED)(self._find)

    def _find(self, phrase: str) -> tuple[Meant, ...]:
        """All senses with the probability that the phrase means them, the likeliest first."""
        words = self.words(phrase)
        if self.meaning is None:
            constant, weight = _WITHOUT_MEANING
            logits = constant + weight * words
        else:
            constant, weight, other = _WITH_MEANING
            logits = constant + weight * words + other * self.similarity(phrase)
        best = np.full(len(self.senses), -np.inf)
        np.maximum.at(best, self.owner, logits)
        order = np.argsort(-best, kind="stable")
        scores = 1 / (1 + np.exp(-best))
        return tuple(Meant(self.senses[index], float(scores[index])) for index in order)

    def words(self, phrase: str) -> NDArray[np.float64]:
        """(phrases,) likeness of words, from 0 to 1."""
        bag = _bag(phrase)
        plain, sided = self._row(bag)
        length = self._lengths(bag)
        known_plain, known_sided = self._norms
        matrix_plain, matrix_sided = self._matrix
        alike = matrix_plain @ plain / np.maximum(known_plain * length[0], 1e-9)
        same_side = matrix_sided @ sided / np.maximum(known_sided * length[1], 1e-9)
        found: NDArray[np.float64] = (1 - _SIDED) * alike + _SIDED * same_side
        return found

    def similarity(self, phrase: str) -> NDArray[np.float64]:
        """(phrases,) cosine of meanings."""
        assert self.meaning is not None
        if self._vectors is None:
            self._vectors = self.meaning.vectors([_spoken(each) for each in self.phrases])
        (vector,) = self.meaning.vectors([_spoken(phrase)])
        found: NDArray[np.float64] = (self._vectors @ vector).astype(np.float64)
        return found

    # --- bags of words -------------------------------------------------------------------------

    def _rows(
        self, bags: Sequence[Iterable[tuple[str, str]]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rows = [self._row(bag) for bag in bags]
        plain, sided = (np.array(part) for part in zip(*rows, strict=True))
        self._norms = np.linalg.norm(plain, axis=1), np.linalg.norm(sided, axis=1)
        return plain, sided

    def _row(
        self, bag: Iterable[tuple[str, str]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(features,) twice: of stems alone, and of those with a side of X."""
        plain, sided = np.zeros(len(self._number)), np.zeros(len(self._number))
        for feature in bag:
            if feature in self._number:
                row = plain if feature[1] == "" else sided
                row[self._number[feature]] = self._rarity[feature]
        return plain, sided

    def _lengths(self, bag: Iterable[tuple[str, str]]) -> tuple[float, float]:
        """The norms of both bags, with the words that no phrase has."""
        squares = [0.0, 0.0]
        for feature in bag:
            weight = self._rarity.get(feature, self._unseen)
            squares[feature[1] != ""] += weight * weight
        return math.sqrt(squares[0]), math.sqrt(squares[1])


def _bag(phrase: str) -> frozenset[tuple[str, str]]:
    """Each stem alone, and with its side of X."""
    words = _WORD.findall(phrase)
    place = words.index("X") if "X" in words else len(words)
    found = set()
    for index, word in enumerate(words):
        if word != "X" and word.casefold() not in _EMPTY:
            found |= {(stem(word), ""), (stem(word), "<" if index < place else ">")}
    return frozenset(found)


def _spoken(phrase: str) -> str:
    """As an encoder reads it."""
    return " ".join(phrase.split()).rstrip(" ?.")
