"""Half of a text is hidden, and written by a decoder: MASS.

Song, Tan, Qin, Lu, Liu: MASS: Masked Sequence to Sequence Pre-training for Language Generation,
ICML 2019, arXiv 1905.02450.

    fragment  k tokens in a row, half of the text: at its start (20 %), at its end (20 %), else
              anywhere; hidden token by token as by `masked`
    decoder   sees the fragment alone, at its own positions in the text
    loss      - 1/k sum over the fragment of log p(x_i | fragment in front of i, text without it)

    read                    [CLS] x1 [M] [M] [M] x5 x6 [SEP]
    written                        [M] x2  x3
    asked                          x2  x3  x4
    position                       2   3   4

With a fragment of one token it is `masked`, with the whole text `causal`. How long the blank is can
be seen, unlike with `t5` and `bart`.
"""

from functools import partial

import numpy as np
from pydantic import Field

from factloom.objectives import Corrupted, Stretch, Written
from factloom.objectives.masking import MaskSettings, Rate, budget_of, hidden
from factloom.objectives.network import Network
from factloom.objectives.rewriting import Rewriting
from factloom.objectives.vocabulary import Vocabulary


class MassSettings(MaskSettings):
    """How long the fragment is, and where."""

    rate: Rate = Field(0.5, description="Part of the tokens that has to be told.")
    at_start: float = Field(0.2, ge=0, le=1, description="How often a text begins with it.")
    at_end: float = Field(0.2, ge=0, le=1, description="How often a text ends with it.")


def write_fragment(
    settings: MassSettings,
    vocabulary: Vocabulary,
    stretch: Stretch,
    randomness: np.random.Generator,
) -> Corrupted:
    """The fragment is hidden where the encoder reads, and written by the decoder."""
    ids, count = stretch.ids, budget_of(len(stretch.ids), settings.rate)
    start = _start(settings, len(ids) - count, randomness)
    fragment = np.arange(start, start + count)
    text = hidden(ids, list(fragment[:, None]), settings, vocabulary, randomness)
    before = [vocabulary.mask, *ids[fragment[:-1]]]
    return Corrupted(
        tokens=vocabulary.around(text),
        slots=np.arange(count),
        wanted=ids[fragment],
        written=Written(np.asarray(before, np.int64), fragment + len(vocabulary.before)),
    )


def _start(settings: MassSettings, last: int, randomness: np.random.Generator) -> int:
    draw = randomness.random()
    if draw < settings.at_start:
        return 0
    if draw < settings.at_start + settings.at_end:
        return last
    return int(randomness.integers(last + 1))


def mass(settings: MassSettings, vocabulary: Vocabulary, network: Network) -> Rewriting:
    """The objective."""
    rewrite = partial(write_fragment, settings, vocabulary)
    return Rewriting(settings, vocabulary, network, rewrite)


OBJECTIVE, SETTINGS = mass, MassSettings
