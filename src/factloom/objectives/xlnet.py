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

from factloom.objectives import Corrupted
from factloom.objectives.masking import Rate
from factloom.objectives.network import Network
from factloom.objectives.orders import OrderedText, OrderedTokens, OrderSettings, content_sees
from factloom.objectives.vocabulary import Vocabulary


class XlnetSettings(OrderSettings):
    """How much is told."""

    rate: Rate = Field(1 / 6, description="Part of the tokens that is told, the last of an order.")


def ask_from_tokens(text: OrderedText, mask: int) -> Corrupted:
    """Behind the text a query for each token that is told."""
    ranks, told, length, count = text.ranks, text.told, len(text.tokens), len(text.told)
    visible = np.eye(length + count, dtype=bool)
    visible[:length, :length] = content_sees(ranks)
    visible[length:, :length] = ranks[None, :] < ranks[told][:, None]
    return Corrupted(
        tokens=np.concatenate([text.tokens, np.full(count, mask)]),
        slots=np.arange(length, length + count),
        wanted=text.tokens[told],
        positions=np.concatenate([np.arange(length), told]),
        visible=visible,
    )


def xlnet(settings: XlnetSettings, vocabulary: Vocabulary, network: Network) -> OrderedTokens:  # noqa: ARG001
    """The objective."""
    return OrderedTokens(settings, vocabulary, ask_from_tokens, behind=1)


OBJECTIVE, SETTINGS = xlnet, XlnetSettings
