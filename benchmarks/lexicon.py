"""Finding the words of a lexicon, in characters a second, against tries in plain Python.

    python benchmarks/lexicon.py            # one JSON line a way to use it

The lexicon: jieba's dictionary, the THUOCL lists and the words of the vectors in $FACTLOOM_DATA,
about half a million words of two characters and more. The text: the Resume and Weibo corpora with
all sentences in one call (as a model prepares documents), and every tenth in a call of its own;
the MSRA corpus as one long text. Compared are nested dictionaries, the fastest trie that plain
Python has; a node an object, as textbooks and the published programs have it; and the automaton of
Aho and Corasick in Rust (ahocorasick_rs). All find the same matches.
"""

import json
import time
from collections.abc import Collection, Sequence
from typing import Protocol

import ahocorasick_rs
from rounds import compare, parse_arguments

from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.text.lexicon import Matcher, Matches, read_lexicon

SENTENCES = ("zh_ner/resume/train.char.bmes", "zh_ner/weibo/train.all.bmes")
LONG_TEXT = ("zh_ner/msra/test.bio",)
LISTS = ("zh_lexicon/THUOCL", "zh_lexicon/wiki_word2vec/words.txt")

Found = list[tuple[int, int, int]]  # word, first and end character


class Finder(Protocol):
    """What is compared."""

    def find(self, text: str) -> Found: ...


class DictionaryTrie:
    """Nested dictionaries; the word's number stands under the empty key."""

    def __init__(self, words: Sequence[str]) -> None:
        self.root: dict = {}
        for number, word in enumerate(words):
            node = self.root
            for character in word:
                node = node.setdefault(character, {})
            node[""] = number

    def find(self, text: str) -> Found:
        found = []
        for start in range(len(text)):
            node = self.root
            for end in range(start, len(text)):
                node = node.get(text[end])
                if node is None:
                    break
                if "" in node:
                    found.append((node[""], start, end + 1))
        return found


class Node:
    """A place in the trie."""

    def __init__(self) -> None:
        self.children: dict[str, Node] = {}
        self.word: int | None = None


class NodeTrie:
    """A node an object."""

    def __init__(self, words: Sequence[str]) -> None:
        self.root = Node()
        for number, word in enumerate(words):
            node = self.root
            for character in word:
                if character not in node.children:
                    node.children[character] = Node()
                node = node.children[character]
            node.word = number

    def find(self, text: str) -> Found:
        found = []
        for start in range(len(text)):
            node = self.root
            for end in range(start, len(text)):
                node = node.children.get(text[end])
                if node is None:
                    break
                if node.word is not None:
                    found.append((node.word, start, end + 1))
        return found


class Automaton:
    """Aho and Corasick's; a deterministic one of so many words would take gigabytes."""

    def __init__(self, words: Sequence[str]) -> None:
        kind = ahocorasick_rs.Implementation.ContiguousNFA
        self.automaton = ahocorasick_rs.AhoCorasick(words, implementation=kind)

    def find(self, text: str) -> Found:
        return self.automaton.find_matches_as_indexes(text, overlapping=True)


def main() -> None:
    arguments = parse_arguments(__doc__.splitlines()[0])
    lists = [data_path(f"$FACTLOOM_DATA/{name}") for name in LISTS]
    words = [word for word in read_lexicon(["jieba", *lists]).words if len(word) > 1]
    start = time.perf_counter()
    matcher = Matcher(words, shortest=2)
    built = time.perf_counter() - start
    others = {
        "dictionaries": DictionaryTrie(words),
        "nodes": NodeTrie(words),
        "automaton": Automaton(words),
    }
    sentences, long_text = texts_of(SENTENCES), ["".join(texts_of(LONG_TEXT))]
    ways = {
        "all sentences in one call": (sentences, matcher.find_all),
        "one long text": (long_text, matcher.find_all),
        "a call a sentence": (
            sentences[::10],
            lambda texts: [matcher.find(text) for text in texts],
        ),
    }
    for way, (texts, find) in ways.items():
        check(texts, find(texts), others.values())
        times = compare(
            lambda find=find, texts=texts: find(texts),
            {
                name: lambda other=other, texts=texts: [other.find(text) for text in texts]
                for name, other in others.items()
            },
            arguments.rounds,
        )
        characters = sum(map(len, texts))
        result = {
            "benchmark": "lexicon",
            "way": way,
            "words": len(words),
            "characters": characters,
            "seconds_to_build": round(built, 2),
            "characters_per_second": round(1000 * characters / times["factloom_ms"]),
            **times,
        }
        print(json.dumps(result), flush=True)


def texts_of(names: Sequence[str]) -> list[str]:
    files = [data_path(f"$FACTLOOM_DATA/{name}") for name in names]
    return [document.text for file in files for document in read(file)]


def check(texts: Sequence[str], found: Sequence[Matches], others: Collection[Finder]) -> None:
    """All find the same."""
    for text, matches in zip(texts, found, strict=True):
        expected = sorted(tuple(match) for match in matches.tolist())
        assert all(sorted(other.find(text)) == expected for other in others)


if __name__ == "__main__":
    main()
