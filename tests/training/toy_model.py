"""A tiny model with the interface that the trainer needs, for the tests of this folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from factloom.training.plugin import Plugin
from factloom.training.settings import TrainingSettings
from factloom.training.sources import ContiguousSegments, EndlessStream, Source
from factloom.training.step import Step
from factloom.training.trainer import Trainer

FEATURES = 6


@dataclass(frozen=True)
class ToyExample:
    """A document of some rows; every row is one term of the loss."""

    id: str
    rows: Tensor  # (pairs, FEATURES)
    targets: Tensor  # (pairs,)
    tokens: int

    @property
    def terms(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class ToyBatch:
    rows: Tensor
    targets: Tensor
    weight: int
    ids: tuple[str, ...]

    def to(self, device: torch.device) -> "ToyBatch":
        return ToyBatch(self.rows.to(device), self.targets.to(device), self.weight, self.ids)


@dataclass(frozen=True)
class ToyOutput:
    loss: Tensor
    predictions: Tensor


class ToyModel(nn.Module):
    """Regression by two layers; `unused` has no part in the loss, as an encoder's pooler."""

    def __init__(self, dropout: float = 0.0, width: int = 8) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(1)
            self.encoder = nn.Sequential(nn.Linear(FEATURES, width), nn.LayerNorm(width), nn.Tanh())
            self.dropout = nn.Dropout(dropout)
            self.head = nn.Linear(width, 1)
            self.unused = nn.Linear(2, 2)

    def collate(self, examples: Sequence[ToyExample]) -> ToyBatch:
        rows = torch.cat([example.rows for example in examples])
        targets = torch.cat([example.targets for example in examples])
        return ToyBatch(rows, targets, len(targets), tuple(example.id for example in examples))

    def forward(self, batch: ToyBatch) -> ToyOutput:
        predictions = self.head(self.dropout(self.encoder(batch.rows))).squeeze(-1)
        return ToyOutput((predictions - batch.targets).square().mean(), predictions)

    def save_pretrained(self, directory: Path) -> None:
        save_file(self.state_dict(), Path(directory) / "model.safetensors")


def toy_example(name: str, size: int, generator: torch.Generator) -> ToyExample:
    rows = torch.randn(size, FEATURES, generator=generator)
    return ToyExample(name, rows, rows[:, 0] * rows[:, 1] + rows[:, 2], tokens=3 * size)


def toy_examples(count: int, seed: int = 0) -> list[ToyExample]:
    """Documents with 1 to 9 rows each; the target is a function of the row."""
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(1, 10, (count,), generator=generator).tolist()
    return [toy_example(f"document {i}", size, generator) for i, size in enumerate(sizes)]


def toy_documents(count: int) -> list[list[ToyExample]]:
    """Documents of 1 to 5 segments, each with 3 rows."""
    generator = torch.Generator().manual_seed(count)
    return [
        [toy_example(f"document {i} segment {n}", 3, generator) for n in range(1 + i % 5)]
        for i in range(count)
    ]


def toy_source(name: str) -> Source | list[ToyExample]:
    """One source of each kind."""
    if name == "contiguous":
        return ContiguousSegments(toy_documents(9))
    if name == "stream":
        return EndlessStream(lambda n: toy_examples(1, seed=n)[0], "toys")
    return toy_examples(23)


class RememberingModel(ToyModel):
    """Adds to each row what the row before it in the same place was like."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__(dropout)
        self.register_buffer("memory", torch.zeros(8))

    def forward(self, batch: ToyBatch) -> ToyOutput:
        output = super().forward(batch)
        if not self.training:
            return output
        count = len(batch.ids)
        remembered = self.memory[:count].repeat_interleave(3)  # (pairs,)
        self.memory[:count] = batch.rows.view(count, 3, FEATURES).mean((1, 2))
        predictions = output.predictions + remembered
        return ToyOutput((predictions - batch.targets).square().mean(), predictions)


def toy_settings(**changes: object) -> TrainingSettings:
    """Few epochs, large rates; whatever a test is about is given by it."""
    length = {} if "steps" in changes else {"epochs": 3}
    chosen: dict[str, object] = {**length, "learning_rates": {"": 1e-2}, **changes}
    return TrainingSettings.model_validate(chosen)


def negative_error(model: nn.Module) -> dict[str, float]:
    """A validation: the better the larger. Draws random numbers, which training must not feel."""
    torch.rand(3)
    batch = model.collate(toy_examples(10, seed=5))
    with torch.no_grad():
        return {"f1": -float(model(batch).loss)}


def last_weights(output: Path) -> dict[str, Tensor]:
    """The weights at the end of a training."""
    return load_file(max((output / "checkpoints").iterdir()) / "model.safetensors")


class Interrupt(Plugin):
    """Ends the training by an error behind a step, in all processes."""

    def __init__(self, step: int) -> None:
        self.step = step

    def after_step(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        if step.number == self.step:
            raise KeyboardInterrupt
