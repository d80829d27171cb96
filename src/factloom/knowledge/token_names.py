"""Names of a knowledge base in the tokens of a text: the longest ones, from left to right.

A layer between two others of an encoder sees token ids and no text. So names are kept as the
tokens that the same tokenizer makes of them, and a name counts where it does not end within a
word: "Berlin" is no part of "Berliner". No list of mentions is needed, and any model can read so.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from factloom.encoders.encoder import Encoder

_LONGEST = 12  # tokens of a name
_SHORTEST = 2  # characters of a name
_TOGETHER = 4096  # names that are tokenised at once

Found = tuple[int, int, str]  # first and last token, and the name


class TokenNames:
    """Names as tokens of an encoder."""

    def __init__(self, encoder: Encoder, names: Iterable[str]) -> None:
        self.inside = _within_words(encoder.tokenizer)
        self.names: dict[tuple[int, ...], str] = {}
        self.lengths: defaultdict[int, set[int]] = defaultdict(set)  # of names, by first token
        chosen = [name for name in names if len(name) >= _SHORTEST]
        for start in range(0, len(chosen), _TOGETHER):
            part = chosen[start : start + _TOGETHER]
            for lead in ("", " "):  # some tokenizers join the blank in front to a word
                tokens = encoder.tokenize([lead + name for name in part])
                for name, found in zip(part, tokens, strict=True):
                    self._add(tuple(found.ids.tolist()), name)

    def _add(self, ids: tuple[int, ...], name: str) -> None:
        if 0 < len(ids) <= _LONGEST and ids not in self.names:
            self.names[ids] = name
            self.lengths[ids[0]].add(len(ids))

    def find(self, ids: Sequence[int]) -> list[Found]:
        """The names in a row of tokens; no two share one."""
        found, position = [], 0
        while position < len(ids):
            length = self._longest(ids, position)
            if length:
                key = tuple(ids[position : position + length])
                found.append((position, position + length - 1, self.names[key]))
            position += length or 1
        return found

    def _longest(self, ids: Sequence[int], position: int) -> int:
        for length in sorted(self.lengths.get(ids[position], ()), reverse=True):
            end = position + length
            goes_on = end < len(ids) and ids[end] in self.inside
            if tuple(ids[position:end]) in self.names and not goes_on:
                return length
        return 0


def _within_words(tokenizer: Any) -> frozenset[int]:
    """The tokens that go on with a word, by the family's own sign for that."""
    words = tokenizer.get_vocab()
    if any(word.startswith("##") for word in words):
        return frozenset(id for word, id in words.items() if word.startswith("##"))
    begins = [sign for sign in ("Ġ", "▁") if any(word.startswith(sign) for word in words)]
    if not begins:
        return frozenset()
    return frozenset(
        id for word, id in words.items() if word[:1].isalnum() and word[0] not in begins
    )
