"""On a small real task the plug-ins do what they are for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from mention_typing import TRAIN, TypingExample, accuracy, robust_accuracy, trainer_of
from torch import nn

from factloom.training.plugin import Plugin
from factloom.training.trainer import Trainer

ATTACK = 1.0  # norm by which the attack moves the embedded words of a mention


def trained(output: Path, tables: dict[str, Any], **changes: Any) -> float:
    """Accuracy under attack."""
    trainer = trainer_of(output, tables, **{"learning_rates": {"": 0.02}, **changes})
    trainer.train()
    return robust_accuracy(trainer.model, ATTACK)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> float:
    return trained(tmp_path_factory.mktemp("plain"), {})


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("fgm", {"epsilon": 10.0}),
        ("fgsm", {"epsilon": 0.3}),
        ("pgd", {"epsilon": 10.0, "alpha": 5.0}),
        ("vat", {"epsilon": 2.0}),
    ],
)
def test_accuracy_under_attack_rises(
    tmp_path: Path, plain: float, name: str, settings: dict[str, Any]
) -> None:
    assert trained(tmp_path, {name: settings}) > plain + 0.05


def test_accuracy_under_attack_rises_by_unlabelled_text(tmp_path: Path) -> None:
    few = {"train": 8, "epochs": 30}
    alone = trained(tmp_path / "alone", {}, **few)
    vat = {"epsilon": 2.0, "unlabelled": [str(TRAIN)]}
    assert trained(tmp_path / "with", {"vat": vat}, **few) > alone + 0.04


def with_wrong_labels(examples: list[TypingExample]) -> list[TypingExample]:
    """A fifth of the labels is random."""
    chance = torch.Generator().manual_seed(0)

    def labels(types: torch.Tensor) -> torch.Tensor:
        wrong = torch.rand(types.shape, generator=chance) < 0.2
        return torch.where(wrong, torch.randint(5, types.shape, generator=chance), types)

    return [replace(example, types=labels(example.types)) for example in examples]


def test_averaged_weights_are_better_than_those_that_wrong_labels_shake(tmp_path: Path) -> None:
    shaken: list[float] = []
    averaged: list[float] = []

    class OwnWeights(Plugin):
        def after_epoch(self, trainer: Trainer) -> None:
            shaken.append(accuracy(trainer.model))

    def validate(model: nn.Module) -> dict[str, float]:
        averaged.append(accuracy(model))
        return {"f1": averaged[-1]}

    trainer = trainer_of(
        tmp_path,
        {"swa": {"start": 0.5, "rate": 1.0}},
        OwnWeights(),
        change=with_wrong_labels,
        validate=validate,
        learning_rates={"": 0.05},
        schedule="constant",
        epochs=10,
        batch_size=2,
    )
    trainer.train()
    assert averaged[:5] == shaken[:5]
    assert sum(averaged[5:]) / 5 > sum(shaken[5:]) / 5 + 0.02
