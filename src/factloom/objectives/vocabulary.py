"""The special tokens that objectives put around and into a text, and the tokens they draw from."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from factloom.encoders.encoder import Encoder
from factloom.encoders.special_tokens import around_text, around_text_with_question
from factloom.errors import ModelError, Place
from factloom.objectives import Integers


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What objectives know of a tokenizer."""

    size: int
    mask: int
    ordinary: Integers  # all tokens but the special ones
    before: tuple[int, ...]  # in front of a text
    after: tuple[int, ...]
    between: tuple[int, ...]  # of two texts; empty where a tokenizer takes no pairs
    segments: bool  # whether the encoder is told which text a token is of

    @classmethod
    def of(cls, encoder: Encoder) -> Self:
        """That of an encoder; a tokenizer without a mask is of no use here."""
        tokenizer = encoder.tokenizer
        if tokenizer.mask_token_id is None:
            raise ModelError("no-mask-token", Place(file=str(tokenizer.name_or_path) or None))
        # the embeddings may have more rows than the tokenizer has tokens
        ordinary = np.setdiff1d(np.arange(len(tokenizer)), tokenizer.all_special_ids)
        around = around_text(tokenizer)
        return cls(
            size=len(tokenizer),
            mask=int(tokenizer.mask_token_id),
            ordinary=ordinary.astype(np.int64),
            before=around.before,
            after=around.after,
            between=_between(tokenizer),
            segments=encoder.reads_types(1),
        )

    @property
    def start(self) -> int:
        """What a decoder begins with."""
        return (*self.before, *self.after, self.mask)[0]

    @property
    def end(self) -> int:
        """What says that a text has ended."""
        return (*self.after, *self.before, self.mask)[0]

    @property
    def special_count(self) -> int:
        """How many stand around a text."""
        return len(self.before) + len(self.after)

    def around(self, text: Integers) -> Integers:
        """(n + special_count,) the text as a network reads it."""
        return np.concatenate([self.before, text, self.after]).astype(np.int64)

    @property
    def pair_count(self) -> int:
        """How many stand around two texts."""
        return self.special_count + len(self.between)

    def around_pair(self, first: Integers, second: Integers) -> tuple[Integers, Integers | None]:
        """Two texts as a network reads them, and the segment of each token."""
        front = [*self.before, *first, *self.between]
        behind = [*second, *self.after]
        types = np.repeat([0, 1], [len(front), len(behind)]) if self.segments else None
        return np.asarray(front + behind, np.int64), types

    def pair_slots(self, tokens: Integers, first: int) -> Integers:
        """Where tokens of both texts stand, counted through them; the first has so many."""
        return tokens + len(self.before) + len(self.between) * (tokens >= first)


def _between(tokenizer: Any) -> tuple[int, ...]:
    try:
        found = around_text_with_question(tokenizer, [])
    except ModelError:
        return ()
    return found.before[len(around_text(tokenizer).before) :]
