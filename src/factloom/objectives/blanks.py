"""Blanks of any length: what a network that writes spans says in place of each.

    model = load_pretraining("runs/glm/best")          # of `glm` or `t5`
    for blank in fill_blanks(model, "She [MASK] in Torvik."):
        print(blank[0].token, blank[0].probability)    # "was born", p of all of it and of its end

Blanks are filled in the order of the text, each with the likeliest words in those in front, by the
likeliest sequences of tokens: modules/beam_search.py.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from factloom.errors import ModelError
from factloom.modules.beam_search import Sequenced, beam_search
from factloom.modules.evaluating import evaluating
from factloom.objectives import Corrupted, Integers
from factloom.objectives.batch import lay_out
from factloom.objectives.filling import Filling, tokens_with_blanks
from factloom.objectives.pretraining import ABOUT, Pretraining

KINDS = ("glm", "t5")  # the objectives whose networks write what is in a blank


@dataclass(frozen=True, slots=True)
class BlankText:
    """A text with a mask for each blank, and what is in the blanks already."""

    ids: Integers  # (n,)
    filled: tuple[tuple[int, ...], ...]  # the blanks in front
    begun: tuple[int, ...]  # the next one, as far as it is written


@dataclass(frozen=True, slots=True)
class Blanks:
    """How an objective is asked for the next token of a blank, and how it says that one ends."""

    ask: Callable[[BlankText], Corrupted]  # its last slot is asked
    end: Callable[[int], int]  # the token behind the blank of that number
    most: int  # blanks of a text


class _Steps:
    """The tokens that may follow those of a blank."""

    def __init__(self, model: Pretraining, blanks: Blanks, text: BlankText) -> None:
        self.model, self.blanks, self.text = model, blanks, text
        self.begun: list[tuple[int, ...]] = [()]
        self.end = blanks.end(len(text.filled))

    def begin(self) -> Tensor:
        return self._following()

    def advance(self, parents: Tensor, tokens: Tensor) -> Tensor:
        pairs = zip(parents.tolist(), tokens.tolist(), strict=True)
        self.begun = [(*self.begun[parent], token) for parent, token in pairs]
        return self._following()

    def _following(self) -> Tensor:
        """(rows, tokens) log p"""
        network, objective = self.model.network, cast(Any, self.model.objective)
        pieces = [self.blanks.ask(replace(self.text, begun=begun)) for begun in self.begun]
        batch = lay_out([[piece] for piece in pieces], network.encoder.special.padding)
        last = np.cumsum([len(piece.slots) for piece in pieces]) - 1
        states = objective.asked_states(network, batch.to(network.embeddings.device))
        found = network.logits(states[torch.from_numpy(last)]).log_softmax(-1).cpu()
        allowed = torch.full((found.shape[1],), -torch.inf)
        allowed[torch.from_numpy(self.model.vocabulary.ordinary)] = 0.0
        allowed[self.end] = 0.0 if self.begun[0] else -torch.inf  # no blank is empty
        return found + allowed


def writes_blanks(directory: Path) -> bool:
    """Whether what lies there has learned to fill blanks of any length."""
    try:
        about = json.loads((directory / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(about, dict) and about.get("kind") in KINDS


@torch.no_grad()
def fill_blanks(
    model: Pretraining, text: str, most: int = 5, longest: int = 12
) -> list[list[Filling]]:
    """For each blank the likeliest words, of at most `longest` tokens."""
    blanks: Blanks = cast(Any, model.objective).blanks
    ids = tokens_with_blanks(model.network, model.vocabulary, text)
    count = int((ids == model.vocabulary.mask).sum())
    if count > blanks.most:
        raise ModelError("too-many-blanks", blanks=count, most=blanks.most)
    filled: tuple[tuple[int, ...], ...] = ()
    found = []
    with evaluating(model):
        for number in range(count):
            steps = _Steps(model, blanks, BlankText(ids, filled, ()))
            # one more, for the end
            (best,) = beam_search(steps, most, longest + 1, [blanks.end(number)])
            filled = (*filled, _inside(best[0]))
            found.append(_told(model, best[:most]))
    return found


def _inside(found: Sequenced) -> tuple[int, ...]:
    return found.tokens[:-1] if found.ended else found.tokens


def _told(model: Pretraining, best: Sequence[Sequenced]) -> list[Filling]:
    decode = model.network.encoder.tokenizer.decode
    return [
        Filling(cast(str, decode(list(_inside(each)))).strip(), float(np.exp(each.logarithm)))
        for each in best
    ]
