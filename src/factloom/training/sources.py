"""Where training examples come from, and in which order.

A *step* is what one update of the weights sees, a *pass* (epoch) all steps until a source begins
again. A step is given as numbers of examples: each process makes only those of its own share. What
comes next is decided by seed, pass and position alone: a source has no other state, and a resumed
training finds its place by the two numbers that its checkpoint holds.

How a step is cut into *batches*, one a forward pass, is a matter of memory and never changes the
update: the trainer weighs every batch by the number of terms in its loss.
"""

import heapq
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, count
from math import ceil
from typing import Any, Protocol

from factloom.layouts.batching import Budget, Example, batches
from factloom.training.fingerprint import digest


class Source(Protocol):
    """What the trainer asks; `size` is the number of examples that one step takes."""

    def length(self, size: int) -> int | None:
        """Steps of a pass, the same for every pass; None for a source without end."""

    def steps(self, epoch: int, size: int, seed: int) -> Iterable[Sequence[int]]:
        """The steps of a pass (from 0), each the numbers of its examples; cheap to skip."""

    def __getitem__(self, number: int, /) -> Any:
        """The example of that number, the same whenever it is asked for."""

    def batches(self, examples: Sequence[Any], budget: Budget) -> Iterable[list[Any]]:
        """A process's share of a step, cut into batches."""

    def fingerprint(self) -> dict[str, Any]:
        """What has to be the same for a training to be resumed, in words: one entry a cause."""


class BucketedDocuments:
    """Examples in memory, each once a pass, those of like length together.

    Shuffled, then sorted by length within pools of `bucket_steps` steps, so that the documents of
    a step are of like length (little padding) while the steps come in random order.
    """

    def __init__(self, examples: Sequence[Example], bucket_steps: int) -> None:
        self.examples, self.bucket_steps = examples, bucket_steps

    def length(self, size: int) -> int:
        return ceil(len(self.examples) / size)

    def steps(self, epoch: int, size: int, seed: int) -> list[list[int]]:
        chance = _chance(seed, epoch)
        order = list(range(len(self.examples)))
        chance.shuffle(order)
        if self.bucket_steps > 1:
            pool = size * self.bucket_steps
            order = [
                number
                for start in range(0, len(order), pool)
                for number in sorted(order[start : start + pool], key=lambda n: self[n].tokens)
            ]
        steps = [order[start : start + size] for start in range(0, len(order), size)]
        chance.shuffle(steps)
        return steps

    def __getitem__(self, number: int, /) -> Any:
        return self.examples[number]

    def batches(self, examples: Sequence[Any], budget: Budget) -> Iterator[list[Any]]:
        return batches(examples, budget)

    def fingerprint(self) -> dict[str, Any]:
        return {"number of examples": len(self.examples), "examples": _costs(self.examples)}


class ContiguousSegments:
    """The segments of long documents in their order, for models that remember what they read.

    A step has a row for each of `size` documents. The i-th row of a step continues the i-th row of
    the step before: with the next segment of its document, else with the first one of another.
    Rows that have come to their end are the last ones, so that no other row changes its place.
    Batches are cut at the same rows in every step; budgets of tokens and terms do not move them.
    """

    def __init__(self, documents: Sequence[Sequence[Example]]) -> None:
        self.segments = [segment for document in documents for segment in document]
        ends = accumulate(map(len, documents))
        pairs = zip(documents, ends, strict=True)
        self.documents = [range(end - len(document), end) for document, end in pairs if document]

    def length(self, size: int) -> int:
        return max((sum(map(len, lane)) for lane in self._lanes(size)), default=0)

    def steps(self, epoch: int, size: int, seed: int) -> Iterator[list[int]]:
        chance = _chance(seed, epoch)
        rows = []
        for lane in self._lanes(size):
            chance.shuffle(lane)
            rows.append([number for document in lane for number in document])
        for position in range(max(map(len, rows), default=0)):
            yield [row[position] for row in rows if position < len(row)]

    def _lanes(self, size: int) -> list[list[range]]:
        """The documents of each row: rows of like length, the longest first."""
        count = min(size, len(self.documents))
        shortest = [(0, row) for row in range(count)]
        lanes: list[list[range]] = [[] for _ in range(count)]
        for document in sorted(self.documents, key=len, reverse=True):
            length, row = shortest[0]
            lanes[row].append(document)
            heapq.heapreplace(shortest, (length + len(document), row))
        return sorted(lanes, key=lambda lane: sum(map(len, lane)), reverse=True)

    def __getitem__(self, number: int, /) -> Any:
        return self.segments[number]

    def batches(self, examples: Sequence[Any], budget: Budget) -> Iterator[list[Any]]:
        for start in range(0, len(examples), budget.documents):
            yield list(examples[start : start + budget.documents])

    def fingerprint(self) -> dict[str, Any]:
        return {
            "number of documents": len(self.documents),
            "segments of documents": digest(map(len, self.documents)),
            "segments": _costs(self.segments),
        }


class EndlessStream:
    """Examples that are made when they are needed, in one pass without end.

    `make(number)` gives the example of any number from 0 on, always the same one: a stretch of a
    memory-mapped corpus, or something drawn by a generator with that number in its seed.
    `identity` says in words what they are made from, for a training to be resumed with the same.
    """

    def __init__(self, make: Callable[[int], Example], identity: str) -> None:
        self.make, self.identity = make, identity

    def length(self, size: int) -> None:  # noqa: ARG002
        return None

    def steps(self, epoch: int, size: int, seed: int) -> Iterator[Sequence[int]]:  # noqa: ARG002
        return (range(start, start + size) for start in count(0, size))

    def __getitem__(self, number: int, /) -> Any:
        return self.make(number)

    def batches(self, examples: Sequence[Any], budget: Budget) -> Iterator[list[Any]]:
        return batches(examples, budget)

    def fingerprint(self) -> dict[str, Any]:
        return {"stream of examples": self.identity}


class PassesOfStream:
    """A stream cut into passes of `count` examples, so that there are epochs; none comes twice.

    `make` gives other examples in every pass: as their numbers go on, so do masks and order.
    """

    def __init__(self, make: Callable[[int], Example], count: int, identity: str) -> None:
        self.stream, self.count = EndlessStream(make, identity), count

    def length(self, size: int) -> int:
        return ceil(self.count / size)

    def steps(self, epoch: int, size: int, seed: int) -> Iterator[Sequence[int]]:  # noqa: ARG002
        numbers = range(epoch * self.count, (epoch + 1) * self.count)
        return (numbers[start : start + size] for start in range(0, self.count, size))

    def __getitem__(self, number: int, /) -> Any:
        return self.stream[number]

    def batches(self, examples: Sequence[Any], budget: Budget) -> Iterator[list[Any]]:
        return self.stream.batches(examples, budget)

    def fingerprint(self) -> dict[str, Any]:
        return {**self.stream.fingerprint(), "examples of a pass": self.count}


def _chance(seed: int, epoch: int) -> random.Random:
    """A text as seed is hashed by SHA-512: the same order on every machine, in every process."""
    return random.Random(f"factloom order {seed} {epoch}")


def _costs(examples: Iterable[Example]) -> str:
    """A digest of what tells examples apart, without a look into their tensors."""
    return digest((getattr(each, "id", ""), each.tokens, each.terms) for each in examples)
