"""All words of a list in a text, also where they overlap.

The words are a trie: a node for each beginning of a word. A search starts at every place of the
text, and all of them go on together, a character a step; those that leave the trie are dropped.
There are as many steps as the longest beginning in the text has characters, each of them a few
operations on arrays.

The automaton of Aho and Corasick (1975) reads each character once, but one after the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloom.text.integer_table import Integers, IntegerTable

_NONE = -1


@dataclass(frozen=True, slots=True)
class _Level:
    """The nodes of all beginnings of one length.

    The edge from node n by character c has the key n * alphabet + c; its slot is the next node.
    """

    words: Integers  # (nodes,) the first word that ends there
    edges: IntegerTable


class Trie:
    """Finds words, none of them empty.

    Characters are numbered from 1 on, 0 is any that no word has. A beginning of one character has
    its number for a node.
    """

    def __init__(self, words: Sequence[str]) -> None:
        points = _code_points("".join(words))
        known = np.unique(points)
        self._alphabet = 1 + len(known)
        self._numbers = np.zeros(int(known.max(initial=0)) + 2, np.int64)
        self._numbers[known] = np.arange(1, self._alphabet)
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        self._alike = np.full(len(words), _NONE)  # the next word that is spelled like a word
        self._levels = list(self._grow(self._numbers[points], lengths))

    def _grow(self, characters: Integers, lengths: Integers) -> Iterator[_Level]:
        """The levels of words whose characters stand one behind the other."""
        firsts = np.cumsum(lengths) - lengths
        words = np.arange(len(lengths))  # that are as long as the level, or longer
        nodes = characters[firsts]  # (words,)
        count = self._alphabet
        for length in range(1, lengths.max(initial=1) + 1):
            ending, longer = lengths[words] == length, lengths[words] > length
            ends = self._first_words(words[ending], nodes[ending], count)
            words = words[longer]
            keys = nodes[longer] * self._alphabet + characters[firsts[words] + length]
            edges = IntegerTable(np.unique(keys))
            yield _Level(ends, edges)
            _, nodes = edges.find(keys)
            count = edges.slots

    def _first_words(self, words: Integers, nodes: Integers, count: int) -> Integers:
        """The first word that ends in each of the nodes; the others are noted as spelled alike."""
        order = np.argsort(nodes, kind="stable")
        words, nodes = words[order], nodes[order]
        repeated = np.diff(nodes, prepend=_NONE) == 0
        self._alike[words[np.flatnonzero(repeated) - 1]] = words[repeated]
        first = np.full(count, _NONE)
        first[nodes[~repeated]] = words[~repeated]
        return first

    def find(self, text: str) -> tuple[Integers, Integers, Integers]:
        """Word, first and end character of every match, in order of the characters."""
        words, starts, ends = map(np.concatenate, zip(*self._matches(text), strict=True))
        order = np.argsort(starts, kind="stable")  # shorter ones came first
        return words.take(order), starts.take(order), ends.take(order)

    def _matches(self, text: str) -> Iterator[tuple[Integers, Integers, Integers]]:
        """Words, first and end characters, a length after the other."""
        # the last number is that of all characters behind those of the words
        nodes = self._numbers.take(_code_points(text), mode="clip")
        characters = np.append(nodes, 0)  # no word goes on behind the text
        starts = np.arange(len(nodes))
        for length, level in enumerate(self._levels, start=1):
            yield from self._ending(level.words.take(nodes), starts, length)
            keys = nodes * self._alphabet + characters.take(starts + length)
            found, nodes = level.edges.find(keys)
            if not len(found):
                return
            starts = starts.take(found)

    def _ending(
        self, words: Integers, starts: Integers, length: int
    ) -> Iterator[tuple[Integers, Integers, Integers]]:
        """The words that there are, then those that are spelled like them."""
        while True:
            whole = np.flatnonzero(words != _NONE)
            words, starts = words.take(whole), starts.take(whole)
            yield words, starts, starts + length
            if not len(words):
                return
            words = self._alike.take(words)


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))
