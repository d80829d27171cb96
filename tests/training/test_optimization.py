"""Parameter groups, learning rates over the steps, and the precision for a device."""

import math
import signal
import subprocess

import pytest
import torch
from pydantic import ValidationError
from torch import nn
from toy_model import ToyModel, toy_settings

from factloom.errors import RecipeError
from factloom.training import optimization
from factloom.training.optimization import (
    adamw,
    freeze,
    parameter_groups,
    precision,
    rate_factor,
)
from factloom.training.settings import TrainingSettings

CPU = torch.device("cpu")


def rates_and_decay(model: nn.Module, settings: TrainingSettings) -> dict[str, tuple[float, float]]:
    """Learning rate and weight decay of every parameter by its name."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return {
        names[id(parameter)]: (group["lr"], group["weight_decay"])
        for group in parameter_groups(model, settings)
        for parameter in group["params"]
    }


def test_the_longest_prefix_gives_the_rate_and_vectors_do_not_decay() -> None:
    settings = toy_settings(
        learning_rates={"encoder": 1.0, "encoder.0": 2.0, "": 3.0}, weight_decay=0.1
    )
    assert rates_and_decay(ToyModel(), settings) == {
        "encoder.0.weight": (2.0, 0.1),
        "encoder.0.bias": (2.0, 0.0),
        "encoder.1.weight": (1.0, 0.0),  # a norm
        "encoder.1.bias": (1.0, 0.0),
        "head.weight": (3.0, 0.1),
        "head.bias": (3.0, 0.0),
        "unused.weight": (3.0, 0.1),
        "unused.bias": (3.0, 0.0),
    }


def test_a_prefix_ends_at_a_dot() -> None:
    model = nn.ModuleDict({"layer1": nn.Linear(2, 2), "layer10": nn.Linear(2, 2)})
    rates = rates_and_decay(model, toy_settings(learning_rates={"layer1": 1.0, "": 2.0}))
    assert rates["layer1.weight"][0] == 1.0
    assert rates["layer10.weight"][0] == 2.0


def test_frozen_parameters_are_left_out() -> None:
    model = ToyModel()
    model.encoder.requires_grad_(False)
    assert set(rates_and_decay(model, toy_settings())) == {
        "head.weight",
        "head.bias",
        "unused.weight",
        "unused.bias",
    }


def test_what_has_the_rate_0_is_frozen() -> None:
    model, settings = ToyModel(), toy_settings(learning_rates={"encoder.0": 0.0, "": 2.0})
    freeze(model, settings)
    frozen = {name for name, weights in model.named_parameters() if not weights.requires_grad}
    assert frozen == {"encoder.0.weight", "encoder.0.bias"}
    assert not frozen & rates_and_decay(model, settings).keys()


def test_a_prefix_without_a_parameter_is_an_error() -> None:
    with pytest.raises(RecipeError, match="'encodr'"):
        parameter_groups(ToyModel(), toy_settings(learning_rates={"encodr": 1.0, "": 2.0}))


def test_the_fused_optimizer_is_used_on_a_cpu() -> None:
    optimizer = adamw(ToyModel(), toy_settings(adam_epsilon=1e-3), CPU)
    assert optimizer.defaults["fused"] is True
    assert optimizer.defaults["eps"] == 1e-3


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("linear", [1 / 2, 1, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8]),
        ("constant", [1 / 2] + [1] * 9),
        ("cosine", [1 / 2, 1] + [(1 + math.cos(math.pi * k / 8)) / 2 for k in range(8)]),
    ],
)
def test_learning_rate_over_ten_steps_with_two_of_warmup(
    schedule: str, expected: list[float]
) -> None:
    settings = toy_settings(schedule=schedule, warmup=0.2)
    assert [rate_factor(step, 10, settings) for step in range(10)] == pytest.approx(expected)


def test_without_warmup_the_first_step_has_the_whole_rate() -> None:
    assert rate_factor(0, 10, toy_settings(warmup=0.0)) == 1.0


def test_a_training_may_be_all_warmup() -> None:
    factors = [rate_factor(step, 4, toy_settings(warmup=1.0)) for step in range(4)]
    assert factors == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("features", [set(), {"avx2", "avx512f"}, {"avx512_bf16", "amx_bf16"}])
def test_auto_computes_in_float32_on_every_cpu(
    monkeypatch: pytest.MonkeyPatch, features: set[str]
) -> None:
    monkeypatch.setattr(optimization, "cpu_features", lambda: frozenset(features))
    assert precision("auto", CPU) == "no"
    assert precision("no", CPU) == "no"


def killed(*_: object, **__: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.CompletedProcess([], -signal.SIGILL)


@pytest.mark.parametrize("feature", ["avx512_bf16", "amx_bf16"])
def test_bfloat16_is_taken_where_a_cpu_announces_it_and_a_trial_survives(
    monkeypatch: pytest.MonkeyPatch, feature: str
) -> None:
    monkeypatch.setattr(optimization, "cpu_features", lambda: frozenset({feature}))
    assert precision("bf16", CPU) == "bf16"
    monkeypatch.setattr(subprocess, "run", killed)
    with pytest.raises(RecipeError, match="is killed"):
        precision("bf16", CPU)


@pytest.mark.parametrize("wish", ["bf16", "fp16"])
def test_a_precision_that_the_cpu_only_emulates_is_an_error(
    monkeypatch: pytest.MonkeyPatch, wish: str
) -> None:
    monkeypatch.setattr(optimization, "cpu_features", frozenset)
    with pytest.raises(RecipeError, match=wish):
        precision(wish, CPU)


def test_every_setting_is_described() -> None:
    undescribed = [name for name, f in TrainingSettings.model_fields.items() if not f.description]
    assert undescribed == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"epoch": 3},
        {"epochs": 0},
        {"warmup": 1.5},
        {"learning_rates": {"encoder": 1e-4}},
        {"learning_rates": {"": -1.0}},
        {"schedule": "step"},
        {"clip": 0},
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TrainingSettings.model_validate(wrong)
