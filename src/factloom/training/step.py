"""One step: the batches that one update of the weights sees, and what each counts for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from accelerate import Accelerator
from torch import nn

from factloom.layouts.batching import Budget
from factloom.training.settings import TrainingSettings
from factloom.training.sources import Source


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
    documents: int  # in all processes, as the tokens
    tokens: int
    parts: tuple[Part, ...]


class StepMaker:
    """Collates the examples of a source into steps."""

    def __init__(
        self, model: nn.Module, source: Source, budget: Budget, accelerator: Accelerator
    ) -> None:
        self.collate = cast(Any, model).collate
        self.source = source
        self.budget = budget
        self.accelerator = accelerator

    def make(self, number: int, examples: Sequence[int]) -> Step:
        """Step `number` of examples of the source, with this process's share collated."""
        mine = share(examples, self.accelerator.process_index, self.accelerator.num_processes)
        groups = list(self.source.batches([self.source[index] for index in mine], self.budget))
        collated = [self.collate(group) for group in groups]
        total, tokens = self._sums_of_all(
            sum(batch.weight for batch in collated),
            sum(example.tokens for group in groups for example in group),
        )
        # A batch without any term (documents without a pair) has nothing to learn from.
        parts = [
            Part(batch, batch.weight / total, tuple(map(document_name, group)))
            for batch, group in zip(collated, groups, strict=True)
            if batch.weight
        ]
        if total and not parts:
            # The other processes wait for this one's gradient: it gives them zeros.
            parts = [Part(self._spare_batch(examples), 0.0, ())]
        return Step(number, len(examples), tokens, tuple(parts))

    def _sums_of_all(self, *counts: int) -> list[int]:
        mine = torch.tensor(counts, device=self.accelerator.device)
        return [int(count) for count in self.accelerator.reduce(mine)]

    def _spare_batch(self, examples: Sequence[int]) -> Any:
        """Any batch with a loss; there is one, for another process has one."""
        collated = (self.collate([self.source[index]]) for index in examples)
        return next(batch for batch in collated if batch.weight)


def step_size(settings: TrainingSettings, processes: int) -> int:
    """Examples that one step takes, over all processes."""
    return settings.batch_size * settings.accumulation * processes


def share(step: Sequence[int], process: int, processes: int) -> Sequence[int]:
    """The part of a step that one process works on: every n-th, so that all get like lengths."""
    return step[process::processes]


def document_name(example: Any) -> str:
    """The example's document, for messages."""
    return str(getattr(example, "id", "") or "(document without id)")
