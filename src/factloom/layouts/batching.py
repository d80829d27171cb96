"""Examples of like length in batches that fit the memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar


class Example(Protocol):
    """A prepared document; what it costs is all that matters here: `terms` of the loss it has."""

    @property
    def tokens(self) -> int: ...

    @property
    def terms(self) -> int: ...


AnyExample = TypeVar("AnyExample", bound=Example)


@dataclass(frozen=True, slots=True)
class Budget:
    """What one forward pass may hold."""

    documents: int
    tokens: int | None = None
    terms: int | None = None

    def holds(self, documents: int, tokens: int, terms: int) -> bool:
        return (
            documents <= self.documents
            and (self.tokens is None or tokens <= self.tokens)
            and (self.terms is None or terms <= self.terms)
        )


def batches(examples: Sequence[AnyExample], budget: Budget) -> Iterator[list[AnyExample]]:
    """Cut examples, shortest first, into batches within the budget.

    An example that is over the budget on its own is a batch of its own.
    """
    batch: list[AnyExample] = []
    terms = 0
    for example in sorted(examples, key=lambda example: example.tokens):
        # Sorted by length: the newest is the longest, to which all others would be padded.
        padded = example.tokens * (len(batch) + 1)
        if batch and not budget.holds(len(batch) + 1, padded, terms + example.terms):
            yield batch
            batch, terms = [], 0
        batch.append(example)
        terms += example.terms
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class _Numbered:
    number: int
    tokens: int
    terms: int


def batches_by_length(examples: Sequence[Example], batch_tokens: int) -> Iterator[list[int]]:
    """Numbers of examples of like length, up to `batch_tokens` padded tokens together.

    Examples without a term are left out: there is nothing to predict.
    """
    asked = [
        _Numbered(number, example.tokens, example.terms)
        for number, example in enumerate(examples)
        if example.terms
    ]
    for batch in batches(asked, Budget(documents=len(asked), tokens=batch_tokens)):
        yield [numbered.number for numbered in batch]
