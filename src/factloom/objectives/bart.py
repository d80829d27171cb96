"""A text is damaged in some of five ways, and written again as it was: BART.

Lewis et al.: BART: Denoising Sequence-to-Sequence Pre-training for Natural Language Generation,
Translation, and Comprehension, ACL 2020, arXiv 1910.13461.

    mask      30 % of the tokens are masks
    delete    30 % of the tokens are gone: where they were has to be found out
    infill    spans of l tokens, l ~ Poisson(3), 30 % of the tokens, are one mask each; a span of
              none is a mask where nothing is missing
    permute   the sentences stand in random order
    rotate    the text begins with a random token, and what was in front of it is behind
    loss      - mean over the whole text and its end of log p(x_i | x_1 ... x_(i-1), what is read)

    read, infill and permute      [CLS] She [M] program . [M] born in London . [SEP]
    written, and asked            Ada was born in London . She wrote the first program . [SEP]

The ways are taken in this order: sentences, tokens, rotation. `infill` and `permute` are those of
the paper's large models. The whole text is written, so that all of a decoder's time is spent on
text, but most of it is copied; `t5` writes what is missing alone.
"""

from functools import partial
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from factloom.objectives import Corrupted, Integers, Stretch
from factloom.objectives.corpus import SENTENCE
from factloom.objectives.masking import Rate, Unit, budget_of, draw_spans, units_at
from factloom.objectives.network import Network
from factloom.objectives.rewriting import Rewriting, rewritten
from factloom.objectives.vocabulary import Vocabulary

Noise = Literal["permute", "mask", "delete", "infill", "rotate"]
_MASK = -1  # among the numbers of tokens


class BartSettings(BaseModel):
    """How a text is damaged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    noises: tuple[Noise, ...] = Field(
        ("permute", "infill"), min_length=1, description="The ways in which a text is damaged."
    )
    rate: Rate = Field(0.3, description="Part of the tokens that is masked, deleted, cut out.")
    mean: float = Field(3.0, gt=0, description="Tokens of a span that is cut out, on average.")


def write_again(
    settings: BartSettings,
    vocabulary: Vocabulary,
    stretch: Stretch,
    randomness: np.random.Generator,
) -> Corrupted:
    """What is left of the text is read, all of it is written."""
    left = damaged(stretch, settings, randomness)
    source = np.where(left == _MASK, vocabulary.mask, stretch.ids[left])
    target = np.append(stretch.ids, vocabulary.end)
    return rewritten(source, target, vocabulary)


def damaged(stretch: Stretch, settings: BartSettings, randomness: np.random.Generator) -> Integers:
    """The numbers of the tokens that are read, in their order; -1 for a mask."""
    left, noises = np.arange(len(stretch.ids)), settings.noises
    if "permute" in noises:
        sentences = np.split(left, np.flatnonzero(stretch.marks[1:] & SENTENCE) + 1)
        order = randomness.permutation(len(sentences))
        left = np.concatenate([sentences[number] for number in order])
    if "infill" in noises:
        left = _infilled(left, settings, randomness)
    if "mask" in noises:
        left[_some(left, settings.rate, randomness)] = _MASK
    if "delete" in noises:
        gone = _some(left, settings.rate, randomness)
        left = np.delete(left, gone[: len(left) - 1])  # something is left
    if "rotate" in noises:
        left = np.roll(left, -int(randomness.integers(len(left))))
    return left


def _some(left: Integers, rate: float, randomness: np.random.Generator) -> Integers:
    """Where some of the tokens are that are no masks yet."""
    kept = np.flatnonzero(left != _MASK)
    return randomness.permutation(kept)[: budget_of(len(kept), rate)]


def _infilled(left: Integers, settings: BartSettings, randomness: np.random.Generator) -> Integers:
    """One mask in place of each span, and some where nothing is missing."""
    empty = 0

    def length() -> int:
        nonlocal empty
        while not (drawn := int(randomness.poisson(settings.mean))):
            empty += 1
        return drawn

    units = units_at(np.ones(len(left), bool))
    spans = draw_spans(units, budget_of(len(left), settings.rate), length, randomness, apart=1)
    kept = _without(left, sorted(spans))
    empty = min(empty, len(left) - len(kept))  # it is never longer than the text
    return np.insert(kept, randomness.integers(len(kept) + 1, size=empty), _MASK)


def _without(left: Integers, spans: list[Unit]) -> Integers:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [left[at:start], [_MASK]]
        at = end
    return np.concatenate([*pieces, left[at:]]).astype(np.int64)


def bart(settings: BartSettings, vocabulary: Vocabulary, network: Network) -> Rewriting:
    """The objective."""
    rewrite = partial(write_again, settings, vocabulary)
    return Rewriting(settings, vocabulary, network, rewrite)


OBJECTIVE, SETTINGS = bart, BartSettings
