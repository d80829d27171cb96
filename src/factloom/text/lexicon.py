"""Word lists, and all their words in a sentence.

    lexicon = read_lexicon(["jieba", "THUOCL/", "my-words.tsv"])
    matcher = Matcher(lexicon.words)
    matcher.find("南京市长江大桥")      # (matches, 3): word, first token, end token

A word list is a text file with one word a line, or with columns between tabs: word and frequency,
word and type, or word, type and frequency. The lists of THUOCL (http://thuocl.thunlp.org) are
such files. "jieba" is the dictionary inside the package of that name.
"""

import importlib.util
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from factloom.errors import InputError, ModelError, Place
from factloom.files.report import raise_flaw
from factloom.files.source import Source
from factloom.text.integer_table import Integers
from factloom.text.trie import Trie

JIEBA = "jieba"
_NUMBER = re.compile(r"[-+]?[.,]?\d[\d.,]*([eE][-+]?\d+)?%?")  # right or wrong, it is no type

Matches = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Entry:
    """A word, with what its list says about it."""

    word: str
    type: str | None = None
    frequency: int | None = None


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words, each once, in the order of their lists."""

    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """The first entry of every word."""
        first: dict[str, Entry] = {}
        for entry in entries:
            first.setdefault(entry.word, entry)
        return cls(tuple(first.values()))

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(entry.word for entry in self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def read_lexicon(sources: Iterable[str | Path], least_frequency: int = 0) -> Lexicon:
    """The words of several sources; those that a list says are rarer are left out."""
    entries = itertools.chain.from_iterable(_entries(source) for source in sources)
    return Lexicon.of(
        entry for entry in entries if entry.frequency is None or entry.frequency >= least_frequency
    )


def _entries(source: str | Path) -> Iterator[Entry]:
    if str(source) == JIEBA:
        return _read_jieba()
    path = Path(source)
    if path.is_dir():
        lists = sorted(path.glob("*.txt"))
        if not lists:
            raise InputError("lexicon-empty-folder", Place(file=str(path)))
        return itertools.chain.from_iterable(read_word_list(found) for found in lists)
    return read_word_list(path)


def read_word_list(path: Path) -> Iterator[Entry]:
    """One word a line, or columns between tabs; blank lines are left out."""
    for number, line in _lines(path):
        word, *columns = (column.strip() for column in line.split("\t"))
        if word and not columns:
            yield Entry(word)
        elif word or columns:
            yield _entry(word, columns, Place(file=str(path), line=number))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number and text of each line; a carriage return alone ends one too (one THUOCL list)."""
    lines = (part for _, line in Source(path).lines(raise_flaw) for part in line.split("\r"))
    return enumerate(lines, start=1)


def _entry(word: str, columns: list[str], place: Place) -> Entry:
    """Type, frequency, or both behind the word; both may be empty."""
    if not word:
        raise InputError("lexicon-no-word", place)
    if len(columns) > 2:
        raise InputError("lexicon-columns", place, count=1 + len(columns))
    if len(columns) == 1 and not _NUMBER.fullmatch(columns[0]):
        return Entry(word, columns[0] or None)
    frequency = columns[-1]
    if frequency and not frequency.isdecimal():
        raise InputError("lexicon-frequency", place, value=frequency)
    kind = columns[0] if len(columns) == 2 else ""
    return Entry(word, kind or None, int(frequency) if frequency else None)


def _read_jieba() -> Iterator[Entry]:
    """Word, frequency and part of speech, which is no type of names."""
    path = jieba_folder() / "dict.txt"
    for number, line in _lines(path):
        columns = line.split()
        if len(columns) < 2 or not columns[1].isdecimal():
            raise InputError("lexicon-frequency", Place(file=str(path), line=number), value=line)
        yield Entry(columns[0], frequency=int(columns[1]))


def jieba_folder() -> Path:
    """Where the package lies; a clear error where it is not installed."""
    found = importlib.util.find_spec("jieba")
    if found is None or found.origin is None:
        raise ModelError("jieba-missing")
    return Path(found.origin).parent


class Matcher:
    """All words of a list in a sentence, also where they overlap.

    Words are found where tokens begin and end, whatever lies between the tokens: white space in
    words of the list does not count. Matches of fewer than `shortest` tokens are left out.
    """

    def __init__(self, words: Sequence[str], shortest: int = 1) -> None:
        self.shortest = shortest
        solid = ("".join(word.split()) for word in words)
        # a word of fewer characters than `shortest` has fewer tokens too
        kept = [(index, word) for index, word in enumerate(solid) if len(word) >= max(shortest, 1)]
        self._index = np.array([index for index, _ in kept], np.int64)  # of the trie's words
        self._trie = Trie([word for _, word in kept])

    def find(self, tokens: Sequence[str]) -> Matches:
        """(matches, 3): index of the word, first token and end token, in order of the tokens."""
        return self.find_all([tokens])[0]

    def find_all(self, sentences: Sequence[Sequence[str]]) -> list[Matches]:
        """The matches of many sentences, as `find` gives them, and much faster than one by one."""
        texts = [tokens if isinstance(tokens, str) else "".join(tokens) for tokens in sentences]
        # no word holds white space: a line end behind every sentence keeps them apart
        words, starts, ends = self._trie.find("\n".join(texts))  # (matches,) characters
        if not all(map(_of_single_characters, sentences, texts)):
            starts, ends = _as_tokens(starts, ends, [t for s in sentences for t in (*s, "\n")])
            whole = (starts >= 0) & (ends - starts >= self.shortest)
            words, starts, ends = words[whole], starts[whole], ends[whole]
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        borders = np.append(0, np.cumsum(lengths + 1))  # first tokens of the sentences
        edges = np.searchsorted(starts, borders)
        first = np.repeat(borders[:-1], np.diff(edges))  # (matches,) of the sentence
        matches = np.column_stack([self._index.take(words), starts - first, ends - first])
        return [matches[begin:end] for begin, end in itertools.pairwise(edges.tolist())]


def _of_single_characters(tokens: Sequence[str], text: str) -> bool:
    return tokens is text or (len(tokens) == len(text) and all(tokens))


def _as_tokens(
    starts: Integers, ends: Integers, tokens: Sequence[str]
) -> tuple[Integers, Integers]:
    """Character positions as tokens: first and end, -1 where none begins or ends."""
    borders = np.cumsum([len(token) for token in tokens])
    token_from = np.full(borders[-1] + 1, -1)  # the token that begins at a character
    token_to = np.full(borders[-1] + 1, -1)  # the token behind the one that ends at a character
    token_from[np.append(0, borders[:-1])] = np.arange(len(tokens))
    token_to[borders] = np.arange(1, len(tokens) + 1)
    return token_from[starts], token_to[ends]
