"""What every model needs to predict: documents in batches, and the mode put back."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from torch import nn


class Sized(Protocol):
    """An example, as far as its cost is concerned."""

    @property
    def tokens(self) -> int: ...
    @property
    def pairs(self) -> int: ...


def batches_by_length(examples: Sequence[Sized], batch_tokens: int) -> Iterator[list[int]]:
    """Numbers of examples of like length, up to `batch_tokens` padded tokens together.

    Examples without a pair are left out: there is nothing to predict.
    """
    asked = [number for number, example in enumerate(examples) if example.pairs]
    batch: list[int] = []
    for number in sorted(asked, key=lambda number: examples[number].tokens):
        if batch and (len(batch) + 1) * examples[number].tokens > batch_tokens:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Without dropout inside the block; the mode is put back whatever happens."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
