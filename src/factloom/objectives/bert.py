"""Masked tokens, and whether a text goes on with another: BERT's objective.

Devlin, Chang, Lee, Toutanova: BERT: Pre-training of Deep Bidirectional Transformers for Language
Understanding, NAACL 2019, arXiv 1810.04805.

    text      A, the first sentences of a stretch, and B: with p = 1/2 those that follow (label 0),
              else a text of another document, as long (label 1)
    loss      that of `masked` over both texts - log p(label | h_[CLS])

    all see all        [CLS] Ada was [MASK] in London . [SEP] She wrote [MASK] first program . [SEP]
    asked              label         born                                the

A stretch of one sentence has nothing that follows: its B is always another's, as in the paper's
code. `albert` asks for the order of A and B instead, `masked` for tokens alone. In ten of a hundred
cases the paper makes texts shorter than they could be; here the ends of documents are.
"""

import numpy as np
from torch import nn

from factloom.objectives import Corrupted, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.masking import MaskSettings, budget_of, draw_units, units_at
from factloom.objectives.network import Network
from factloom.objectives.sentence_pairs import PairHead, masked_pair, sentence_cut, told_pair
from factloom.objectives.vocabulary import Vocabulary


class Bert(nn.Module):
    """Tokens and a label."""

    pairs, says_tokens, fills = True, True, True

    def __init__(self, settings: MaskSettings, vocabulary: Vocabulary, network: Network) -> None:
        super().__init__()
        self.settings, self.vocabulary = settings, vocabulary
        self.next_sentence = PairHead(network.encoder.width)

    def slots(self, tokens: int) -> int:
        return max(tokens, 2) + self.vocabulary.pair_count

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        ids, label = stretch.ids, 0
        cut = sentence_cut(stretch, randomness)
        follows = cut is not None and randomness.random() < 0.5
        if cut is None:
            cut = max(len(ids) // 2, 1)  # leaves room for the other text
        first, second = ids[:cut], ids[cut:]
        if not follows and stretch.other is not None:
            second, label = stretch.other.ids[: max(len(second), 1)], 1
        count = len(first) + len(second)
        tokens = units_at(np.ones(count, bool))
        chosen = draw_units(tokens, budget_of(count, self.settings.rate), randomness)
        known = None if stretch.other is None else label
        return masked_pair(first, second, chosen, known, self.settings, self.vocabulary, randomness)

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        return told_pair(network, batch, "next_sentence", self.next_sentence)


OBJECTIVE, SETTINGS = Bert, MaskSettings
