"""How an encoder sees a text, whatever runs the encoder: its tokens, and windows over them.

Nothing here imports torch: `Encoder` (encoders/encoder.py) reads texts so, and so does what runs a
model without torch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from factloom.encoders.special_tokens import SpecialTokens
from factloom.encoders.windows import TokenIds
from factloom.modules.devices import Numbers
from factloom.modules.windows import WindowBatch

_TOKENISED = 2**17


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text, without special tokens."""

    ids: TokenIds  # (tokens,)
    offsets: NDArray[np.int64]  # (tokens, 2) half-open characters of the text


class Reader(Protocol):
    """What layouts need of an encoder."""

    @property
    def special(self) -> SpecialTokens:
        """What surrounds every window."""

    @property
    def capacity(self) -> int:
        """How many tokens a window holds beside the special ones."""

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text."""

    def lay_out(
        self,
        documents: Sequence[TokenIds],
        rows: Sequence[NDArray[np.int64]] | None = None,
        special: Sequence[SpecialTokens] | None = None,
    ) -> WindowBatch[Numbers]:
        """Documents as windows; see `Encoder.batch`."""


class QuestionReader(Reader, Protocol):
    """What layouts of questions need of an encoder."""

    @property
    def class_token(self) -> int | None:
        """The special token that stands for a text as a whole, where there is one."""

    def question(self, question: str) -> SpecialTokens:
        """What surrounds every window of a text that is read with the question in front."""


def tokens_of(texts: Sequence[str], tokenize: Callable[[list[str]], list[Tokens]]) -> list[Tokens]:
    """The tokens of each text.

    Tokenizers keep some hundred bytes a token: texts of more than `_TOKENISED` characters are
    given to them in parts, cut between words.
    """
    whole = [text for text in texts if len(text) <= _TOKENISED]
    short = iter(tokenize(whole) if whole else [])
    return [
        next(short) if len(text) <= _TOKENISED else _tokens_of_parts(text, tokenize)
        for text in texts
    ]


def _tokens_of_parts(text: str, tokenize: Callable[[list[str]], list[Tokens]]) -> Tokens:
    cuts = _cuts_between_words(text, _TOKENISED)
    parts = [tokenize([text[start:end]])[0] for start, end in pairwise(cuts)]
    offsets = [part.offsets + start for part, start in zip(parts, cuts, strict=False)]
    return Tokens(np.concatenate([part.ids for part in parts]), np.concatenate(offsets))


def _cuts_between_words(text: str, most: int) -> list[int]:
    """Where parts of at most `most` characters begin, and the end; a very long word is cut."""
    cuts = [0]
    while len(text) - cuts[-1] > most:
        end = cuts[-1] + most
        blank = max(text.rfind(" ", cuts[-1] + 1, end), text.rfind("\n", cuts[-1] + 1, end))
        cuts.append(end if blank < 0 else blank)
    return [*cuts, len(text)]
