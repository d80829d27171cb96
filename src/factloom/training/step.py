"""One step: the batches that one update of the weights sees, and what each counts for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from accelerate import Accelerator
from torch import nn

from factloom.training.batching import Budget, batches, share


@dataclass(frozen=True, slots=True)
class Part:
    """One batch of a step, and its part in the step's mean loss."""

    batch: Any
    share: float  # of all terms of the step, in all processes
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What one update of the weights sees; `parts` are those of this process."""

    number: int  # from 1
    documents: int  # in all processes
    parts: tuple[Part, ...]


class StepMaker:
    """Collates examples into steps."""

    def __init__(
        self, model: nn.Module, examples: Sequence[Any], budget: Budget, accelerator: Accelerator
    ) -> None:
        self.collate = cast(Any, model).collate
        self.examples = examples
        self.budget = budget
        self.accelerator = accelerator

    def make(self, number: int, indices: Sequence[int]) -> Step:
        """Step `number` of the examples `indices`, with this process's share collated."""
        mine = share(indices, self.accelerator.process_index, self.accelerator.num_processes)
        groups = list(batches([self.examples[index] for index in mine], self.budget))
        collated = [self.collate(group) for group in groups]
        total = self._sum_of_all(sum(batch.weight for batch in collated))
        # A batch without any term (documents without a pair) has nothing to learn from.
        parts = [
            Part(batch, batch.weight / total, tuple(map(document_name, group)))
            for batch, group in zip(collated, groups, strict=True)
            if batch.weight
        ]
        if total and not parts:
            # The other processes wait for this one's gradient: it gives them zeros.
            parts = [Part(self._spare_batch(), 0.0, ())]
        return Step(number, len(indices), tuple(parts))

    def _sum_of_all(self, weight: int) -> int:
        return int(self.accelerator.reduce(torch.tensor(weight, device=self.accelerator.device)))

    def _spare_batch(self) -> Any:
        """Any batch with a loss; there is one, for another process has one."""
        collated = (self.collate([example]) for example in self.examples)
        return next(batch for batch in collated if batch.weight)


def document_name(example: Any) -> str:
    """The example's document, for messages."""
    return str(getattr(example, "id", "") or "(document without id)")
