"""What every model needs to predict: documents in batches, and the mode put back."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from torch import nn

from factloom.training.batching import Budget, Example, batches


@dataclass(frozen=True, slots=True)
class _Numbered:
    number: int
    tokens: int
    pairs: int


def batches_by_length(examples: Sequence[Example], batch_tokens: int) -> Iterator[list[int]]:
    """Numbers of examples of like length, up to `batch_tokens` padded tokens together.

    Examples without a pair are left out: there is nothing to predict.
    """
    asked = [
        _Numbered(number, example.tokens, example.pairs)
        for number, example in enumerate(examples)
        if example.pairs
    ]
    for batch in batches(asked, Budget(documents=len(asked), tokens=batch_tokens)):
        yield [numbered.number for numbered in batch]


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Without dropout inside the block; the mode is put back whatever happens."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
