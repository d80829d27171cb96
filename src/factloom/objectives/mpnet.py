"""Tokens in a random order, with the places of all that are still to come: MPNet's objective.

Song, Tan, Qin, Lu, Liu: MPNet: Masked and Permuted Pre-training for Language Understanding,
NeurIPS 2020, arXiv 2004.09297.

    order     as `xlnet`; the last 15 % are told
    masks     for each of these a mask stands at its position as long as it is not told: whoever
              tells the t-th sees the tokens before it and the masks from the t-th on, and so
              the length of the text and all positions, as one does with `masked`
    loss      - mean over told i of log p(x_i | tokens before i in the order, masks of the others)

    order: b d | a c, row sees column        a b c d   Ma Mc   [M]a [M]c
    (b and d are given)             a        x x   x       x                  content
                                    b          x   x   x   x
                                    c        x x x x
                                    d          x   x   x   x
                                    Ma, Mc     x   x   x   x                  masks
                                   [M]a        x   x   x   x    x             query, asked: a
                                   [M]c      x x   x       x         x        query, asked: c

With one token to tell it is `masked`. A query is always a mask: the authors' 80/10/10 shows one in
ten of them its own token.
"""

import numpy as np

from factloom.objectives import Corrupted
from factloom.objectives.network import Network
from factloom.objectives.orders import OrderedText, OrderedTokens, OrderSettings, content_sees
from factloom.objectives.vocabulary import Vocabulary


def ask_from_tokens_and_masks(text: OrderedText, mask: int) -> Corrupted:
    """Behind the text a mask, and behind the masks a query, for each token that is told."""
    ranks, told, length, count = text.ranks, text.told, len(text.tokens), len(text.told)
    masks, queries = slice(length, length + count), slice(length + count, None)
    coming = np.arange(1, count + 1)  # the ranks of masks and queries
    visible = np.eye(length + 2 * count, dtype=bool)
    visible[:length, :length] = content_sees(ranks)
    visible[:length, masks] = coming[None, :] > ranks[:, None]
    visible[masks, :length], visible[masks, masks] = ranks == 0, True
    visible[queries, :length] = ranks[None, :] < coming[:, None]
    visible[queries, masks] = coming[None, :] >= coming[:, None]
    return Corrupted(
        tokens=np.concatenate([text.tokens, np.full(2 * count, mask)]),
        slots=np.arange(length + count, length + 2 * count),
        wanted=text.tokens[told],
        positions=np.concatenate([np.arange(length), told, told]),
        visible=visible,
    )


def mpnet(settings: OrderSettings, vocabulary: Vocabulary, network: Network) -> OrderedTokens:  # noqa: ARG001
    """The objective."""
    return OrderedTokens(settings, vocabulary, ask_from_tokens_and_masks, behind=2)


OBJECTIVE, SETTINGS = mpnet, OrderSettings
