"""Which tokens of a text are hidden, and what stands in their place.

A *unit* is hidden as a whole or not at all: a token, a word with all its pieces, a name, a span. A
text of n tokens has a budget of rate x n targets (rounded, and at least one): units are drawn in
random order, each if it still fits, until the budget is used up. Where no unit fits at all, as in a
text of one long word, the shortest one is hidden, whatever it costs.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Annotated, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import nn

from factloom.objectives import Booleans, Corrupted, Integers, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary

Rate = Annotated[float, Field(gt=0, lt=1)]
Unit = tuple[int, int]  # first token and end
Draw = Callable[[Stretch, int, np.random.Generator], list[Unit]]  # which units, by the budget


class MaskSettings(BaseModel):
    """What the objectives with masks have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: Rate = Field(0.15, description="Part of the tokens that has to be told.")
    masked: float = Field(0.8, ge=0, le=1, description="Part of these that a mask stands for.")
    random: float = Field(
        0.1, ge=0, le=1, description="Part of these that a random token stands for; others stay."
    )

    @model_validator(mode="after")
    def _parts_of_one(self) -> Self:
        if self.masked + self.random > 1:
            raise ValueError("masked and random are parts of the same tokens: at most 1 together")
        return self


class MaskedUnits(nn.Module):
    """The objective of whoever hides units of one text and asks for nothing but their tokens.

        loss = - 1/|M| sum over hidden tokens i of log p(x_i | the text as it is shown)

    `draw` decides which units are hidden; each of their tokens is replaced on its own.
    """

    pairs, says_tokens, fills = False, True, True

    def __init__(self, settings: MaskSettings, vocabulary: Vocabulary, draw: Draw) -> None:
        super().__init__()
        self.settings, self.vocabulary, self.draw = settings, vocabulary, draw

    def slots(self, tokens: int) -> int:
        return tokens + self.vocabulary.special_count

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        ids, vocabulary = stretch.ids, self.vocabulary
        units = self.draw(stretch, budget_of(len(ids), self.settings.rate), randomness)
        chosen = tokens_of(units)
        text = hidden(ids, list(chosen[:, None]), self.settings, vocabulary, randomness)
        return Corrupted(vocabulary.around(text), chosen + len(vocabulary.before), ids[chosen])

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        return told_tokens(network, batch)


def told_tokens(network: Network, batch: TextBatch) -> Losses:
    """Of objectives that ask for tokens alone."""
    states = network.states(batch.windows)
    return Losses(network.token_losses(states, batch.slots, batch.wanted))


def budget_of(tokens: int, rate: float) -> int:
    """How many tokens of a text are targets."""
    return max(round(tokens * rate), 1)


def units_at(begins: Booleans) -> list[Unit]:
    """The units that begin where it is true; what stands in front of the first is one as well."""
    starts = np.flatnonzero(begins)
    edges = [0, *(start for start in starts.tolist() if start), len(begins)]
    return list(pairwise(edges))


def draw_units(units: Sequence[Unit], budget: int, randomness: np.random.Generator) -> list[Unit]:
    """Units in random order, as far as they fit."""
    ordered = [units[index] for index in randomness.permutation(len(units))]
    chosen = fitting(ordered, budget)
    return chosen or [min(ordered, key=lambda unit: unit[1] - unit[0])]


def fitting(units: Iterable[Unit], budget: int, apart: int = 0) -> list[Unit]:
    """The units, in the order given, that fit into the budget, and between any two at least
    `apart` tokens."""
    chosen: list[Unit] = []
    taken: set[int] = set()
    for start, end in units:
        if end - start > budget or not taken.isdisjoint(range(start - apart, end + apart)):
            continue
        chosen.append((start, end))
        taken.update(range(start, end))
        budget -= end - start
        if not budget:
            break
    return chosen


def draw_spans(
    words: Sequence[Unit],
    budget: int,
    length: Callable[[], int],
    randomness: np.random.Generator,
    apart: int = 0,
    border: int = 0,
) -> list[Unit]:
    """Runs of whole words until the budget is used up, at least `apart` words between any two.

    None reaches over the token `border`, with which a second text begins.

    `length()` draws how many words the next one has; a place is then drawn among those that are
    free and not too dear. Where there is none, a shorter run does.
    """
    edges = np.asarray([*(start for start, _ in words), words[-1][1]])
    free = np.ones(len(words), bool)
    chosen: list[Unit] = []
    while budget > 0:
        place = _free_run(edges, free, length(), budget, border, randomness)
        if place is None:
            break
        start, end = place
        free[max(start - apart, 0) : end + apart] = False
        chosen.append((int(edges[start]), int(edges[end])))
        budget -= chosen[-1][1] - chosen[-1][0]
    return chosen or [min(words, key=lambda unit: unit[1] - unit[0])]


def _free_run(
    edges: Integers,
    free: Booleans,
    most: int,
    budget: int,
    border: int,
    randomness: np.random.Generator,
) -> Unit | None:
    """First word and end of a run of `most` free words, or of fewer, that fits the budget."""
    taken = np.concatenate([[0], np.cumsum(~free)])
    for count in range(min(most, len(free)), 0, -1):
        starts, ends = edges[:-count], edges[count:]
        fits = (taken[count:] == taken[:-count]) & (ends - starts <= budget)
        fits &= (starts >= border) | (ends <= border)
        if fits.any():
            start = int(randomness.choice(np.flatnonzero(fits)))
            return start, start + count
    return None


def tokens_of(units: Iterable[Unit]) -> Integers:
    """The tokens of all units, in the order of the text."""
    return np.sort(np.concatenate([np.arange(start, end) for start, end in units]))


def hidden(
    ids: Integers,
    groups: Sequence[Integers],
    settings: MaskSettings,
    vocabulary: Vocabulary,
    randomness: np.random.Generator,
) -> Integers:
    """The text with a mask, a random token or the same in place of the tokens of each group.

    One draw decides for a whole group: give every token as a group of its own, or every span.
    """
    text = ids.copy()
    draws = randomness.random(len(groups))
    for tokens, draw in zip(groups, draws, strict=True):
        if draw < settings.masked:
            text[tokens] = vocabulary.mask
        elif draw < settings.masked + settings.random:
            text[tokens] = randomness.choice(vocabulary.ordinary, len(tokens))
    return text
