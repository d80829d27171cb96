"""Which examples make a step, in which order, and how a step is cut to fit the memory.

The order depends on the seed and the epoch alone, so that a resumed training finds its place.
A *step* is what one update of the weights sees. How it is then cut into *batches*, one a forward
pass, is a matter of memory and never changes the update: the trainer weighs every batch by the
number of terms in its loss.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol, TypeVar

from factloom.training.settings import TrainingSettings


class Example(Protocol):
    """A prepared document; what it costs is all that matters here."""

    @property
    def tokens(self) -> int: ...

    @property
    def pairs(self) -> int: ...


AnyExample = TypeVar("AnyExample", bound=Example)


@dataclass(frozen=True, slots=True)
class Budget:
    """What one forward pass may hold."""

    documents: int
    tokens: int | None = None
    pairs: int | None = None

    def holds(self, documents: int, tokens: int, pairs: int) -> bool:
        return (
            documents <= self.documents
            and (self.tokens is None or tokens <= self.tokens)
            and (self.pairs is None or pairs <= self.pairs)
        )


def step_size(settings: TrainingSettings, processes: int) -> int:
    """Examples that one step takes, over all processes."""
    return settings.batch_size * settings.accumulation * processes


def step_count(examples: int, size: int) -> int:
    """Steps of one epoch."""
    return ceil(examples / size)


def epoch_steps(
    examples: Sequence[Example], size: int, settings: TrainingSettings, epoch: int
) -> list[list[int]]:
    """The steps of one epoch, each a list of indices into `examples`.

    Shuffled, then sorted by length within pools, so that the documents of a step are of like
    length (little padding) while the steps come in random order.
    """
    # A text as seed is hashed by SHA-512: the same order on every machine and in every process.
    chance = random.Random(f"factloom order {settings.seed} {epoch}")
    order = list(range(len(examples)))
    chance.shuffle(order)
    if settings.bucket_steps > 1:
        pool = size * settings.bucket_steps
        order = [
            index
            for start in range(0, len(order), pool)
            for index in sorted(order[start : start + pool], key=lambda i: examples[i].tokens)
        ]
    steps = [order[start : start + size] for start in range(0, len(order), size)]
    chance.shuffle(steps)
    return steps


def share(step: Sequence[int], process: int, processes: int) -> Sequence[int]:
    """The part of a step that one process works on: every n-th, so that all get like lengths."""
    return step[process::processes]


def batches(examples: Sequence[AnyExample], budget: Budget) -> Iterator[list[AnyExample]]:
    """Cut examples, shortest first, into batches within the budget.

    An example that is over the budget on its own is a batch of its own.
    """
    batch: list[AnyExample] = []
    pairs = 0
    for example in sorted(examples, key=lambda example: example.tokens):
        # Sorted by length: the newest is the longest, to which all others would be padded.
        padded = example.tokens * (len(batch) + 1)
        if batch and not budget.holds(len(batch) + 1, padded, pairs + example.pairs):
            yield batch
            batch, pairs = [], 0
        batch.append(example)
        pairs += example.pairs
    if batch:
        yield batch
