"""Tokens in a random order, each from those before it in that order: XLNet's objective.

Yang, Dai, Yang, Carbonell, Salakhutdinov, Le: XLNet: Generalized Autoregressive Pretraining for
Language Understanding, NeurIPS 2019, arXiv 1906.08237.

    order     z of the n tokens; the last n / K of it are told (K = 6), special tokens never
    content   h_i sees h_j with rank(j) <= rank(i): itself too; all that is given sees each other
    query     g_i sees h_j with rank(j) < rank(i): its own place, and not its token
    loss      - mean over told i of log p(x_i | g_i)

    order: b d | a c, row sees column        a b c d   [M]a [M]c
    (b and d are given)             a        x x   x                 content
                                    b          x   x
                                    c        x x x x
                                    d          x   x
                                   [M]a        x   x     x           query, asked: a
                                   [M]c      x x   x         x       query, asked: c

Both streams are rows of one network, as in the paper, whose weights they share: a mask at the
position of its token is a query that nobody else sees. So any encoder that takes a visibility and
positions can be trained by it. Memory of the segment before, and relative positions, are matters of
the network. `mpnet` also shows the places of what is not told yet.
"""

import numpy as np
from pydantic import Field
from torch import nn

from factloom.objectives import Corrupted, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.masking import Rate, budget_of, told_tokens
from factloom.objectives.network import Network
from factloom.objectives.orders import OrderedText, OrderSettings, content_sees
from factloom.objectives.vocabulary import Vocabulary


class XlnetSettings(OrderSettings):
    """How much is told."""

    rate: Rate = Field(1 / 6, description="Part of the tokens that is told, the last of an order.")


class Xlnet(nn.Module):
    """Tokens in any order."""

    pairs, says_tokens, fills = False, True, True

    def __init__(
        self, settings: XlnetSettings, vocabulary: Vocabulary, network: Network | None = None
    ) -> None:
        del network  # no further layers
        super().__init__()
        self.settings, self.vocabulary = settings, vocabulary

    def slots(self, tokens: int) -> int:
        told = budget_of(tokens, self.settings.rate)
        return tokens + self.vocabulary.special_count + told

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        vocabulary, count = self.vocabulary, budget_of(len(stretch.ids), self.settings.rate)
        text = OrderedText.draw(stretch.ids, count, vocabulary, randomness)
        ranks, told, length = text.ranks, text.told, len(text.tokens)
        visible = np.eye(length + count, dtype=bool)
        visible[:length, :length] = content_sees(ranks)
        visible[length:, :length] = ranks[None, :] < ranks[told][:, None]
        return Corrupted(
            tokens=np.concatenate([text.tokens, np.full(count, vocabulary.mask)]),
            slots=np.arange(length, length + count),
            wanted=text.tokens[told],
            positions=np.concatenate([np.arange(length), told]),
            visible=visible,
        )

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        return told_tokens(network, batch)


OBJECTIVE, SETTINGS = Xlnet, XlnetSettings
