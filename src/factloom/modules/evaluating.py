"""Whether a model learns or is asked."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Without dropout inside the block; the mode is put back whatever happens."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
