"""Masked n-grams, and the order of two texts: ALBERT's objective.

Lan et al.: ALBERT: A Lite BERT for Self-supervised Learning of Language Representations, ICLR 2020,
arXiv 1909.11942.

    text      A and B, sentences of one document that follow each other, exchanged with p = 1/2
    masks     runs of n words, p(n) = (1/n) / (1 + 1/2 + 1/3) for n up to 3, 15 % of the tokens
    loss      that of `masked` over both texts - log p(label | h_[CLS]), label 1 = exchanged

    all see all    [CLS] She wrote [MASK] [MASK] program . [SEP] Ada was born in London . [SEP]
    asked          label 1         the    first

The other text is never of another document, so that its topic does not give the label away, as it
does in `bert`. A stretch of one sentence has no label. The paper's network shares its layers and
has small embeddings: take an encoder of that family.
"""

import numpy as np
from pydantic import Field
from torch import nn

from factloom.objectives import Corrupted, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.corpus import WORD
from factloom.objectives.masking import MaskSettings, budget_of, draw_spans, units_at
from factloom.objectives.network import Network
from factloom.objectives.sentence_pairs import PairHead, masked_pair, sentence_cut, told_pair
from factloom.objectives.vocabulary import Vocabulary


class AlbertSettings(MaskSettings):
    """Masks, and how many words are hidden together."""

    longest: int = Field(3, ge=1, le=20, description="Words that are hidden together at most.")


class Albert(nn.Module):
    """Tokens and an order."""

    pairs, says_tokens, fills = False, True, True

    def __init__(self, settings: AlbertSettings, vocabulary: Vocabulary, network: Network) -> None:
        super().__init__()
        self.settings, self.vocabulary = settings, vocabulary
        self.order = PairHead(network.encoder.width)
        weights = 1 / np.arange(1, settings.longest + 1)
        self.lengths = weights / weights.sum()

    def slots(self, tokens: int) -> int:
        return tokens + self.vocabulary.pair_count

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        ids, begins = stretch.ids, stretch.marks & WORD > 0
        cut = sentence_cut(stretch, randomness)
        exchanged = bool(randomness.random() < 0.5) and cut is not None
        label = None if cut is None else int(exchanged)
        cut = len(ids) if cut is None else cut
        if exchanged:
            ids, begins = (np.concatenate([each[cut:], each[:cut]]) for each in (ids, begins))
            cut = len(ids) - cut
        begins[[0, cut % len(ids)]] = True
        chosen = draw_spans(
            units_at(begins),
            budget_of(len(ids), self.settings.rate),
            lambda: int(randomness.choice(len(self.lengths), p=self.lengths)) + 1,
            randomness,
            border=cut,
        )
        return masked_pair(
            ids[:cut], ids[cut:], chosen, label, self.settings, self.vocabulary, randomness
        )

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        return told_pair(network, batch, "sentence_order", self.order)


OBJECTIVE, SETTINGS = Albert, AlbertSettings
