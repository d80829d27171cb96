"""Texts told in another order than from left to right: what XLNet and MPNet have in common.

The tokens of a text have ranks: 0 for those that are given, 1 ... k for those that are told, one
after the other in random order. The tokens keep their places and positions; rank is only a matter
of who sees whom. What has to be told is asked in slots of its own behind the text, each a mask at
the position of its token (the *query stream* of the papers): it knows where, and not what.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from torch import nn

from factloom.objectives import Booleans, Corrupted, Integers, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.masking import Rate, budget_of, told_tokens
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary


class OrderSettings(BaseModel):
    """How much is told."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: Rate = Field(0.15, description="Part of the tokens that is told, the last of an order.")


@dataclass(frozen=True, slots=True)
class OrderedText:
    """A text with its special tokens, which are always given."""

    tokens: Integers  # (n,)
    ranks: Integers  # (n,)
    told: Integers  # (count,) the places of the tokens that are told, the first one first

    @classmethod
    def draw(
        cls, ids: Integers, count: int, vocabulary: Vocabulary, randomness: np.random.Generator
    ) -> Self:
        """`count` tokens of the text, the last of a random order of all, are told."""
        tokens = vocabulary.around(ids)
        told = randomness.permutation(len(ids))[len(ids) - count :] + len(vocabulary.before)
        ranks = np.zeros(len(tokens), np.int64)
        ranks[told] = np.arange(1, count + 1)
        return cls(tokens, ranks, told)


class OrderedTokens(nn.Module):
    """The objective of whoever tells the last tokens of a random order.

        loss = - mean over told i of log p(x_i | what the query of i sees)

    `ask` puts queries, and what else there is to see, behind the text: `behind` slots for each
    token that is told.
    """

    pairs, says_tokens, fills = False, True, True

    def __init__(
        self,
        settings: OrderSettings,
        vocabulary: Vocabulary,
        ask: Callable[[OrderedText, int], Corrupted],
        behind: int,
    ) -> None:
        super().__init__()
        self.settings, self.vocabulary, self.ask, self.behind = settings, vocabulary, ask, behind

    def slots(self, tokens: int) -> int:
        told = budget_of(tokens, self.settings.rate)
        return tokens + self.vocabulary.special_count + self.behind * told

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        count = budget_of(len(stretch.ids), self.settings.rate)
        text = OrderedText.draw(stretch.ids, count, self.vocabulary, randomness)
        return self.ask(text, self.vocabulary.mask)

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        return told_tokens(network, batch)


def content_sees(ranks: Integers) -> Booleans:
    """(n, n) given tokens see each other; one that is told sees these, itself and those before."""
    row, column = ranks[:, None], ranks[None, :]
    return np.asarray(
        (column < row) | ((row == 0) & (column == 0)) | np.eye(len(ranks), dtype=bool)
    )
