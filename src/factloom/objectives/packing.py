"""A corpus as examples: windows full of text, in an order and with masks that can be resumed.

A window is a run of tokens that follow each other in the corpus. It holds the end of a document,
whole ones, and the beginning of the next, each a *stretch* within special tokens of its own that
the others do not see: no padding, and no document reads another. Where one window ends the next one
begins, so that every token is in exactly one.

    windows = Windows(corpus, slots=lambda tokens: tokens + 2, window=512, packed=True)
    training, held_out = split(windows, part=0.01, seed=42)
    stream = Examples([training], [1.0], pairs=False, seed=42)
    stream.make(7)            # always the same example, whatever was asked for before
"""

import bisect
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from factloom.errors import InputError, Place, RecipeError
from factloom.objectives import Integers, Stretch
from factloom.objectives.corpus import Corpus

_LEAST = 8  # tokens of a stretch that is cut off: what is shorter waits for the next window
_LONGEST_BLOCK = 64  # windows that are held out together
_PERIOD = 1024  # examples in which each of several corpora has its share


@dataclass(frozen=True, slots=True)
class TextExample:
    """What a window holds; an `Example` of the trainer."""

    id: str
    stretches: tuple[Stretch, ...]
    randomness: tuple[int, ...]  # decides all that is drawn for it
    tokens: int  # slots, of which special ones are some

    @property
    def terms(self) -> int:
        """Only for budgets: how many targets there are is drawn later."""
        return self.tokens


class Windows:
    """The windows over a corpus; they are not kept but cut when they are asked for."""

    def __init__(
        self, corpus: Corpus, slots: Callable[[int], int], window: int, packed: bool
    ) -> None:
        self.corpus, self.slots = corpus, slots
        self.starts = np.fromiter(self._plan(window, packed), np.int64)  # and the end

    def _plan(self, window: int, packed: bool) -> Iterator[int]:
        """Where windows begin, and the end of the text."""
        needed = [self.slots(tokens) for tokens in range(1, window + 1)]
        fits = [bisect.bisect_right(needed, room) for room in range(window + 1)]
        if fits[window] == 0:
            raise RecipeError("window-without-text", Place(part="encoder.window"), window=window)
        room = 0
        for start, end in pairwise(_numbers(self.corpus.documents)):
            room = room if packed else 0
            while start < end:
                taken = min(fits[room], end - start)
                if taken < min(_LEAST, end - start, fits[window]):
                    yield start
                    room = window
                    continue
                start, room = start + taken, room - needed[taken - 1]
        yield int(self.corpus.documents[-1])

    def __len__(self) -> int:
        return len(self.starts) - 1

    def stretches(self, number: int) -> Iterator[Stretch]:
        """What is in a window, cut where documents begin."""
        start, end = int(self.starts[number]), int(self.starts[number + 1])
        documents = self.corpus.documents
        within = slice(
            np.searchsorted(documents, start, "right"), np.searchsorted(documents, end, "left")
        )
        borders = [start, *documents[within].tolist(), end]
        for first, last in pairwise(borders):
            yield self._stretch(first, last)

    def _stretch(self, start: int, end: int) -> Stretch:
        return Stretch(
            self.corpus.ids[start:end].astype(np.int64), np.array(self.corpus.marks[start:end])
        )

    def of_another_document(self, number: int, randomness: np.random.Generator) -> Stretch | None:
        """A stretch of a document that does not reach into the window; None if there is none."""
        documents, (start, end) = self.corpus.documents, self.starts[number : number + 2]
        first = int(np.searchsorted(documents, start, "right")) - 1
        behind = int(np.searchsorted(documents, end, "left"))  # the first document behind
        others = len(documents) - 1 - (behind - first)
        if others == 0:
            return None
        chosen = int(randomness.integers(others))
        chosen += (behind - first) * (chosen >= first)
        begin, last = documents[chosen : chosen + 2].tolist()
        longest = int(end - start)
        begin += int(randomness.integers(max(last - begin - longest, 0) + 1))
        return self._stretch(begin, min(begin + longest, last))


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the windows of a corpus: all but those of some blocks, or these alone."""

    windows: Windows
    numbers: Integers  # of the windows

    @classmethod
    def whole(cls, windows: Windows) -> Self:
        return cls(windows, np.arange(len(windows)))

    def __len__(self) -> int:
        return len(self.numbers)


def split(windows: Windows, part: float, seed: int) -> tuple[Part, Part]:
    """Training windows and held-out ones, which are blocks of neighbours, spread over the text.

    Blocks, so that few documents are in both; where the text is short they are single windows.
    """
    length = min(max(len(windows) // 200, 1), _LONGEST_BLOCK)
    blocks = len(windows) // length
    count = max(round(blocks * part), 1)
    if count >= blocks:
        raise RecipeError("too-little-text", Place(part="data.hold_out"), windows=len(windows))
    chosen = random.Random(seed).sample(range(blocks), count)
    held_out = np.zeros(len(windows), bool)
    for block in chosen:
        held_out[block * length : (block + 1) * length] = True
    return (
        Part(windows, np.flatnonzero(~held_out)),
        Part(windows, np.flatnonzero(held_out)),
    )


class Examples:
    """Examples without end from several corpora, each seen as often as its weight says.

    Within a corpus every window comes once before one comes again, in another order each time.
    Seed and number alone decide what `make` gives, so that nothing has to be kept to go on.
    """

    def __init__(
        self, parts: Sequence[Part], weights: Sequence[float], pairs: bool, seed: int
    ) -> None:
        self.parts, self.pairs, self.seed = parts, pairs, seed
        if not all(len(part) for part in parts):
            raise InputError("nothing-to-learn")
        if pairs and any(len(part.windows.corpus.documents) < 3 for part in parts):
            raise InputError("one-document")
        self.turns = _turns(weights) if len(parts) > 1 else np.zeros(_PERIOD, np.int64)
        # (period, parts) how often each had its turn before
        had = np.eye(len(parts), dtype=np.int64)[self.turns].cumsum(0)
        self.had = np.vstack([np.zeros((1, len(parts)), np.int64), had])

    def __len__(self) -> int:
        """Windows in all: examples of a pass, by which every one is seen once if sizes weigh."""
        return sum(map(len, self.parts))

    def make(self, number: int) -> TextExample:
        """The example of any number from 0 on, always the same one."""
        period, turn = divmod(number, _PERIOD)
        which = int(self.turns[turn])
        position = int(period * self.had[-1, which] + self.had[turn, which])
        passed, index = divmod(position, len(self.parts[which]))
        place = shuffled(index, len(self.parts[which]), (self.seed, which, passed))
        return self._example(which, place, (self.seed, number))

    def in_order(self, most: int) -> Iterator[TextExample]:
        """The first windows of each part, for measuring: masked in the same way every time."""
        for which, part in enumerate(self.parts):
            # spread over the part where there are more than are wanted
            share = max(most * len(part) // len(self), 1)
            for place in np.unique(np.linspace(0, len(part) - 1, share).astype(np.int64)):
                yield self._example(which, int(place), (self.seed, which, int(place)))

    def _example(self, which: int, place: int, randomness: tuple[int, ...]) -> TextExample:
        part = self.parts[which]
        windows, number = part.windows, int(part.numbers[place])
        stretches = tuple(windows.stretches(number))
        if self.pairs:
            drawn = np.random.default_rng((*randomness, 1))
            stretches = tuple(
                Stretch(found.ids, found.marks, windows.of_another_document(number, drawn))
                for found in stretches
            )
        slots = sum(windows.slots(len(stretch.ids)) for stretch in stretches)
        name = f"{windows.corpus.folder.name}, window {number}"
        return TextExample(name, stretches, (*randomness, 0), slots)


def _numbers(mapped: Integers, at_once: int = 2**16) -> Iterator[int]:
    """The numbers of an array on the disk, some of them in memory."""
    for start in range(0, len(mapped), at_once):
        yield from mapped[start : start + at_once].tolist()


def _turns(weights: Sequence[float]) -> Integers:
    """(period,) whose turn it is: each time the one that is furthest behind its share."""
    shares = np.asarray(weights, np.float64) / sum(weights)
    given = np.zeros(len(shares))
    turns = np.zeros(_PERIOD, np.int64)
    for turn in range(_PERIOD):
        turns[turn] = np.argmax(shares * (turn + 1) - given)
        given[turns[turn]] += 1
    return turns


def shuffled(index: int, length: int, key: tuple[int, ...]) -> int:
    """Where a number below `length` goes in a random order, without the order being laid out.

    A Feistel network of four rounds over the next power of four, walked until it is in range:
    Black and Rogaway, Ciphers with Arbitrary Finite Domains, CT-RSA 2002.
    """
    half = max((length - 1).bit_length() + 1, 2) // 2
    mask = (1 << half) - 1
    rounds = [random.Random(f"factloom text {key} {turn}").getrandbits(61) | 1 for turn in range(4)]
    while True:
        left, right = index >> half, index & mask
        for secret in rounds:
            mixed = (right + 1) * secret
            left, right = right, left ^ ((mixed ^ (mixed >> 29)) % 2305843009213693951 & mask)
        index = left << half | right
        if index < length:
            return index
