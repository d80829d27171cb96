"""Two texts in one: where a stretch is cut in two, and what says how they belong together.

c = tanh(W h_[CLS] + b),   p(label) = softmax(V c + d)
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from factloom.objectives import Corrupted, Integers, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.corpus import SENTENCE
from factloom.objectives.masking import MaskSettings, Unit, hidden, tokens_of
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary


class PairHead(nn.Module):
    """Two labels from the first slot of each stretch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.classifier = nn.Linear(width, 2)

    def forward(self, states: Tensor, batch: TextBatch) -> Tensor:
        """(stretches,) -log p of each label; 0 where there is none."""
        first = states.index_select(0, batch.first)
        logits = self.classifier(torch.tanh(self.dense(first)))  # (stretches, 2)
        return functional.cross_entropy(logits, batch.labels, reduction="none", ignore_index=-1)


def told_pair(network: Network, batch: TextBatch, name: str, head: PairHead) -> Losses:
    """Of objectives that ask for tokens and a label, which has that name."""
    states = network.states(batch.windows)
    tokens = network.token_losses(states, batch.slots, batch.wanted)
    return Losses(tokens, {name: head(states, batch)})


def sentence_cut(stretch: Stretch, randomness: np.random.Generator) -> int | None:
    """The first token of a sentence amid the stretch, any of them; None for a single sentence."""
    starts = np.flatnonzero(stretch.marks & SENTENCE)
    inside = starts[starts > 0]
    return int(randomness.choice(inside)) if len(inside) else None


def masked_pair(
    first: Integers,
    second: Integers,
    units: list[Unit],
    label: int | None,
    settings: MaskSettings,
    vocabulary: Vocabulary,
    randomness: np.random.Generator,
) -> Corrupted:
    """Two texts, in which units, counted through both, are hidden token by token."""
    ids, chosen = np.concatenate([first, second]), tokens_of(units)
    text = hidden(ids, list(chosen[:, None]), settings, vocabulary, randomness)
    tokens, types = vocabulary.around_pair(text[: len(first)], text[len(first) :])
    slots = vocabulary.pair_slots(chosen, len(first))
    return Corrupted(tokens, slots, ids[chosen], types=types, label=label)
