"""Objectives: what an encoder learns from plain text, one file a paper, and what they share.

An objective decides what a network sees of a text and what it has to say; the network stays the
same (network.py), the data too (corpus.py, packing.py), and the trainer is everybody's:

    corrupt(stretch, randomness) -> Corrupted     tokens in, positions, who sees whom, targets
    losses(network, batch) -> Losses              of many of these, laid out by batch.py

Objectives that let a text be written join a decoder to the network (decoder.py, rewriting.py).

A new objective is a file in this folder, say `mine.py`, whose last line is

    OBJECTIVE, SETTINGS = Mine, MineSettings

Its name is then its kind: `kind = "mine"` in the section [objective] of a recipe. `Mine` is called
with settings, vocabulary and network, and gives an `Objective`. `whole_word.py` is a short one to
begin from; the checks that each has to pass are in tests/objectives/objective_checks.py.

Whatever is random is drawn from the `randomness` that `corrupt` is given, which is decided by the
seed and the number of the example alone: a resumed training sees the same masks.
"""

import difflib
import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from factloom.errors import RecipeError

if TYPE_CHECKING:
    from factloom.objectives.batch import Losses, TextBatch
    from factloom.objectives.network import Network

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Tokens of one document that follow each other, without special ones."""

    ids: Integers  # (tokens,)
    marks: NDArray[np.uint8]  # (tokens,) what begins with each: see corpus.py
    other: "Stretch | None" = None  # one of another document, for objectives that ask for it


@dataclass(frozen=True, slots=True)
class Written:
    """What a decoder has written so far; each sees those in front, and all that is read."""

    tokens: Integers  # (m,)
    positions: Integers  # (m,)


@dataclass(frozen=True, slots=True)
class Corrupted:
    """What a network gets of a stretch, and what it has to say: n slots, k targets.

    `along` are further numbers of each slot, `beside` further slots of each target, by names that
    the objective's loss knows. Where something is written, targets are asked for there.
    """

    tokens: Integers  # (n,)
    slots: Integers  # (k,) where a token is asked for
    wanted: Integers  # (k,) the tokens that are right
    positions: Integers | None = None  # (n,); None: in order
    visible: Booleans | None = None  # (n, n) row sees column; None: all see all
    types: Integers | None = None  # (n,) segments; None: all of the first
    label: int | None = None  # of the whole, to be told from the first slot
    written: Written | None = None  # for objectives with a decoder; `slots` are then among these
    along: Mapping[str, Integers] = field(default_factory=dict)  # (n,) each
    beside: Mapping[str, Integers] = field(default_factory=dict)  # (k,) each


class Objective(Protocol):
    """A `torch.nn.Module`, with the layers that it needs beside the network, or without any."""

    pairs: bool  # whether stretches have a further one of another document
    says_tokens: bool  # whether the network's head is taught; else it is not kept
    fills: bool  # whether the network learns what stands behind a mask that all see

    def slots(self, tokens: int) -> int:
        """How many slots a stretch of so many tokens takes at most; grows with them."""

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        """What the network is to see of a text, and what it has to say."""

    def losses(self, network: "Network", batch: "TextBatch") -> "Losses":
        """Of each target, and of what else is asked for: see `Losses`."""


def objective_maker(kind: str) -> Any:
    """What makes an objective, by the name of its file."""
    return _exported(kind).OBJECTIVE


def objective_settings(kind: str) -> type[BaseModel]:
    """The class of its settings."""
    return cast(type[BaseModel], _exported(kind).SETTINGS)


def objective_kinds() -> list[str]:
    """All that there are."""
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name for name in names if hasattr(_module(name), "OBJECTIVE"))


def _exported(kind: str) -> Any:
    known = objective_kinds()
    if kind in known:
        return _module(kind)
    near = difflib.get_close_matches(kind, known, n=1)
    meant = f"Did you mean '{near[0]}'? " if near else ""
    raise RecipeError("unknown-objective", kind=kind, near=meant, known=", ".join(known))


def _module(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}")
