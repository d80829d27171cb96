"""Whole words are masked: no part of a word gives the rest away.

Cui, Che, Liu, Qin, Yang: Pre-Training with Whole Word Masking for Chinese BERT, 2019, arXiv
1906.08101; for English, Google's second release of BERT, 2019.

    text      x in words w_1 ... w_m; words are drawn until 15 % of the tokens are hidden
    loss      as `masked`: each token of a hidden word is asked for on its own, and replaced on its
              own (80 % mask, 10 % random, 10 % kept)

    all see all                 [CLS] the [MASK] [MASK] [MASK] of Torvik [SEP]
    asked                                  phil   ##har  ##monic

Words are found by rule; `data.words = "jieba"` makes Chinese words of characters. `masked` hides
single tokens, `ernie` names as well as words, `spanbert` runs of words.
"""

import numpy as np

from factloom.objectives import Stretch
from factloom.objectives.corpus import WORD
from factloom.objectives.masking import MaskedUnits, MaskSettings, Unit, draw_units, units_at
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary


def draw_words(stretch: Stretch, budget: int, randomness: np.random.Generator) -> list[Unit]:
    """Any word is as likely to be hidden as any other, with all its tokens."""
    return draw_units(units_at(stretch.marks & WORD > 0), budget, randomness)


def whole_word(settings: MaskSettings, vocabulary: Vocabulary, network: Network) -> MaskedUnits:  # noqa: ARG001
    """The objective."""
    return MaskedUnits(settings, vocabulary, draw_words)


OBJECTIVE, SETTINGS = whole_word, MaskSettings
