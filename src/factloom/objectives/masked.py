"""Masked tokens, drawn anew each time a text is seen, over packed text: RoBERTa's objective.

Liu et al.: RoBERTa: A Robustly Optimized BERT Pretraining Approach, 2019, arXiv 1907.11692; masks
by Devlin et al.: BERT, NAACL 2019, arXiv 1810.04805.

    text      x_1 ... x_n, of which M, 15 %, are hidden: 80 % behind a mask, 10 % behind a random
              token, 10 % not at all
    loss      - 1/|M| sum over i in M of log p(x_i | x with M hidden)

    all see all                 [CLS] Ada [MASK] was born in Rome [SEP]
    asked                                 ^

The others with masks differ in what is hidden together: whole words (`whole_word`), names
(`ernie`), n-grams (`albert`), spans (`spanbert`); and in what is asked beside: `bert`, `albert`.
"""

import numpy as np

from factloom.objectives import Stretch
from factloom.objectives.masking import MaskedUnits, MaskSettings, Unit, draw_units, units_at
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary


def draw_tokens(stretch: Stretch, budget: int, randomness: np.random.Generator) -> list[Unit]:
    """Any token is as likely to be hidden as any other."""
    return draw_units(units_at(np.ones(len(stretch.ids), bool)), budget, randomness)


def masked(settings: MaskSettings, vocabulary: Vocabulary, network: Network) -> MaskedUnits:  # noqa: ARG001
    """The objective."""
    return MaskedUnits(settings, vocabulary, draw_tokens)


OBJECTIVE, SETTINGS = masked, MaskSettings
