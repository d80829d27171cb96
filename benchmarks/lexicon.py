"""Finding the words of a lexicon, in characters a second, against a trie in plain Python.

    python benchmarks/lexicon.py            # one JSON line

The lexicon: jieba's dictionary, the THUOCL lists and the words of the vectors in $FACTLOOM_DATA,
about half a million words of two characters and more. The text: sentences of the Resume and Weibo
corpora. Two tries are compared: nested dictionaries, the fastest that plain Python has, and
a node an object, as textbooks and the published programs have it. All find the same matches.
"""

import json
import time
from collections.abc import Sequence

from rounds import compare, parse_arguments

from factloom.formats import read
from factloom.recipe import data_path
from factloom.text.lexicon import Matcher, read_lexicon

CORPORA = ("zh_ner/resume/train.char.bmes", "zh_ner/weibo/train.all.bmes")
LISTS = ("zh_lexicon/THUOCL", "zh_lexicon/wiki_word2vec/words.txt")

Found = list[tuple[int, int, int]]  # word, first and end character


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


def main() -> None:
    arguments = parse_arguments(__doc__.splitlines()[0])
    lists = [data_path(f"$FACTLOOM_DATA/{name}") for name in LISTS]
    words = [word for word in read_lexicon(["jieba", *lists]).words if len(word) > 1]
    files = [data_path(f"$FACTLOOM_DATA/{name}") for name in CORPORA]
    texts = [document.text for file in files for document in read(file)]
    start = time.perf_counter()
    matcher = Matcher(words, shortest=2)
    built = time.perf_counter() - start
    tries = {"dictionaries": DictionaryTrie(words), "nodes": NodeTrie(words)}
    for text, found in zip(texts, matcher.find_all(texts), strict=True):
        expected = sorted(tuple(match) for match in found.tolist())
        assert all(sorted(trie.find(text)) == expected for trie in tries.values())
    others = {
        name: lambda trie=trie: [trie.find(text) for text in texts] for name, trie in tries.items()
    }
    times = compare(lambda: matcher.find_all(texts), others, arguments.rounds)
    characters = sum(map(len, texts))
    result = {
        "benchmark": "lexicon",
        "words": len(words),
        "characters": characters,
        "seconds_to_build": round(built, 2),
        "characters_per_second": round(1000 * characters / times["factloom_ms"]),
        **times,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
