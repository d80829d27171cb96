"""Masked tokens with four ways to look at a text: UniLM's mixture.

Dong et al.: Unified Language Model Pre-training for Natural Language Understanding and Generation,
NeurIPS 2019, arXiv 1905.03197.

    way       for each text one is drawn: full 1/3, sequence to sequence 1/3, left to right 1/6,
              right to left 1/6
    masks     15 % of the tokens; of draws 80 % a single token, 20 % two or three in a row; the
              closing [SEP] of a sequence to be generated may be hidden, too
    loss      as `masked`

    row sees column      full           left to right     right to left     sequence to sequence
                        a b c d          a b c d            a b c d          A A | B B
                     a  x x x x          x                  x x x x       A  x x |
                     b  x x x x          x x                  x x x       A  x x |
                     c  x x x x          x x x                  x x       B  x x | x
                     d  x x x x          x x x x                  x       B  x x | x x

A text is cut at a sentence for the fourth way (amid a single one). In the paper segment numbers
tell a network which way it is; here a learned vector of each way joins the embeddings, for which
an encoder that knows two segments or none has room. `masked` is the first way alone, `causal` the
second without masks.
"""

import numpy as np
from pydantic import Field
from torch import nn

from factloom.objectives import Booleans, Corrupted, Integers, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.masking import (
    MaskSettings,
    budget_of,
    draw_spans,
    hidden,
    tokens_of,
    units_at,
)
from factloom.objectives.network import Network
from factloom.objectives.sentence_pairs import sentence_cut
from factloom.objectives.vocabulary import Vocabulary

FULL, SOURCE, TARGET, RIGHTWARDS, LEFTWARDS = range(5)  # the ways; the second has two parts


class UnilmSettings(MaskSettings):
    """Masks, and how often each way is taken."""

    runs: float = Field(
        0.2, ge=0, le=1, description="Part of the draws that hide two or three tokens in a row."
    )
    full: float = Field(1 / 3, ge=0, le=1, description="How often all see all.")
    to_sequence: float = Field(
        1 / 3, ge=0, le=1, description="How often a text is written from the one in front of it."
    )
    rightwards: float = Field(
        1 / 6, ge=0, le=1, description="How often a token sees those in front; else those behind."
    )


class Unilm(nn.Module):
    """Tokens, seen in one of four ways."""

    pairs, says_tokens, fills = False, True, True

    def __init__(self, settings: UnilmSettings, vocabulary: Vocabulary, network: Network) -> None:
        super().__init__()
        self.settings, self.vocabulary = settings, vocabulary
        self.way = nn.Embedding(5, network.encoder.embedding_width)
        nn.init.zeros_(self.way.weight)  # the encoder begins as it is

    def slots(self, tokens: int) -> int:
        return tokens + self.vocabulary.pair_count

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        ids, vocabulary = stretch.ids, self.vocabulary
        way, cut = self._way(randomness), len(ids)
        if way == SOURCE:
            found = sentence_cut(stretch, randomness)
            cut = max(len(ids) // 2, 1) if found is None else found
        # the closing token may have to be told: the text has to know where to stop
        closed = np.append(ids, vocabulary.after[0]) if way == SOURCE else ids
        chosen = tokens_of(
            draw_spans(
                units_at(np.ones(len(closed), bool)),
                budget_of(len(closed), self.settings.rate),
                lambda: self._length(randomness),
                randomness,
                border=cut,
            )
        )
        text = hidden(closed, list(chosen[:, None]), self.settings, vocabulary, randomness)
        return self._seen(way, text, closed[chosen], chosen, cut)

    def _seen(
        self, way: int, text: Integers, wanted: Integers, chosen: Integers, cut: int
    ) -> Corrupted:
        vocabulary = self.vocabulary
        if way != SOURCE:
            tokens = vocabulary.around(text)
            ways, slots = np.full(len(tokens), way), chosen + len(vocabulary.before)
        else:
            tokens, _ = vocabulary.around_pair(text[:cut], text[cut:])
            tokens = np.delete(tokens, -len(vocabulary.after))  # the closing one is in the text
            slots = vocabulary.pair_slots(chosen, cut)
            front = len(vocabulary.before) + cut + len(vocabulary.between)
            ways = np.repeat([SOURCE, TARGET], [front, len(tokens) - front])
        return Corrupted(
            tokens, slots, wanted, visible=visible_by(ways), along={"way": ways.astype(np.int64)}
        )

    def _way(self, randomness: np.random.Generator) -> int:
        settings = self.settings
        draw = randomness.random()
        for way, share in ((FULL, settings.full), (SOURCE, settings.to_sequence)):
            if draw < share:
                return way
            draw -= share
        return RIGHTWARDS if draw < settings.rightwards else LEFTWARDS

    def _length(self, randomness: np.random.Generator) -> int:
        return int(randomness.integers(2, 4)) if randomness.random() < self.settings.runs else 1

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        states = network.states(batch.windows, added=self.way(batch.along["way"]))
        return Losses(network.token_losses(states, batch.slots, batch.wanted))


def visible_by(ways: Integers) -> Booleans | None:
    """(n, n) who sees whom, by the way of each slot; None where all see all."""
    first = ways[0]
    if first == FULL:
        return None
    square = np.ones((len(ways), len(ways)), bool)
    if first == LEFTWARDS:
        return np.triu(square)
    # the source is seen by all, and sees itself alone
    return np.asarray(np.tril(square) | (ways == SOURCE))


OBJECTIVE, SETTINGS = Unilm, UnilmSettings
