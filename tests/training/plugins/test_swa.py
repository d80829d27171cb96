"""SWA: the rates of its cycles, the plain mean of the weights, and what is validated and saved."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from mention_typing import MentionTyping, accuracy, documents, trainer_of
from safetensors.torch import load_file
from torch import Tensor, nn
from toy_model import last_weights

from factloom.errors import RecipeError
from factloom.training.plugin import Plugin
from factloom.training.plugins.swa import SwaSettings, cycle_rate
from factloom.training.step import Step
from factloom.training.trainer import Trainer

Weights = dict[str, Tensor]
SIZES = {"epochs": 4, "batch_size": 2, "train": 10}  # five steps an epoch


def copy(model: nn.Module) -> Weights:
    return {name: value.clone() for name, value in model.state_dict().items()}


def same(first: Weights, second: Weights) -> bool:
    return all(first[name].equal(second[name]) for name in first)


class Collect(Plugin):
    """The weights behind every step."""

    def __init__(self) -> None:
        self.weights: list[Weights] = []

    def after_step(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        self.weights.append(copy(trainer.model))

    def mean(self, numbers: range) -> Weights:
        """Of the weights behind these steps (from 1), in float64."""
        chosen = [self.weights[number - 1] for number in numbers]
        return {
            name: sum(weights[name].double() for weights in chosen) / len(chosen)
            for name in chosen[0]
        }


def assert_close(found: Weights, expected: Weights) -> None:
    for name, value in found.items():
        torch.testing.assert_close(value.double(), expected[name], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"rate": 0.3}, [0.3] * 6),
        ({"rate": 0.3, "cycle": 3}, [0.3] * 6),
        ({"rate": 0.1, "first_rate": 0.7, "cycle": 3}, [0.5, 0.3, 0.1, 0.5, 0.3, 0.1]),
        ({"rate": 0.1, "first_rate": 0.7, "cycle": 1}, [0.1] * 6),
    ],
)
def test_the_rate_goes_down_evenly_in_each_cycle(
    settings: dict[str, Any], expected: list[float]
) -> None:
    chosen = SwaSettings.model_validate(settings)
    assert [cycle_rate(step, chosen) for step in range(1, 7)] == pytest.approx(expected)


def test_the_rates_of_the_training_are_taken_over_at_the_start_of_the_cycles(
    tmp_path: Path,
) -> None:
    swa = {"start": 0.5, "cycle": 5, "rate": 0.1, "first_rate": 0.6}
    trainer_of(
        tmp_path, {"swa": swa}, **SIZES, learning_rates={"": 1e-2}, schedule="constant", warmup=0
    ).train()
    records = map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines())
    rates = [record["learning_rate"] for record in records if "loss" in record]
    cycle = [5e-3, 4e-3, 3e-3, 2e-3, 1e-3]
    assert rates == pytest.approx([1e-2] * 10 + cycle + cycle)


@pytest.mark.parametrize(
    ("settings", "collected"),
    [
        ({"start": 0.5}, range(11, 21)),
        ({"start": 0.0}, range(1, 21)),
        ({"start": 0.5, "cycle": 4, "first_rate": 1.0}, range(14, 21, 4)),
        ({"start": 0.75, "cycle": 5}, range(20, 21)),
    ],
)
def test_the_average_is_the_plain_mean_of_the_weights_at_the_end_of_the_cycles(
    tmp_path: Path, settings: dict[str, Any], collected: range
) -> None:
    collect = Collect()
    trainer = trainer_of(tmp_path, {"swa": settings}, collect, **SIZES)
    trainer.train()
    assert_close(load_file(tmp_path / "best" / "model.safetensors"), collect.mean(collected))
    assert_close(copy(trainer.model), collect.mean(collected))


def test_validation_sees_the_average_and_training_goes_on_without_it(tmp_path: Path) -> None:
    collect = Collect()
    seen: list[Weights] = []

    def validate(model: nn.Module) -> dict[str, float]:
        seen.append(copy(model))
        return {"f1": float(len(seen))}

    settings = {"swa": {"start": 0.5, "rate": 1.0}}
    constant = {**SIZES, "schedule": "constant", "warmup": 0}
    trainer_of(tmp_path / "swa", settings, collect, validate=validate, **constant).train()
    assert same(seen[0], collect.weights[4])
    assert same(seen[1], collect.weights[9]), "averaged before the start"
    assert_close(seen[2], collect.mean(range(11, 16)))
    assert_close(seen[3], collect.mean(range(11, 21)))
    assert same(load_file(tmp_path / "swa" / "best" / "model.safetensors"), seen[3])
    plain = Collect()
    trainer_of(tmp_path / "plain", {}, plain, **constant).train()
    assert all(map(same, collect.weights, plain.weights))
    assert same(last_weights(tmp_path / "swa"), plain.weights[-1])


def test_a_failing_validation_leaves_the_weights_of_the_training(tmp_path: Path) -> None:
    collect = Collect()

    def fail(model: nn.Module) -> dict[str, float]:  # noqa: ARG001
        raise RuntimeError("validation failed")

    trainer = trainer_of(tmp_path, {"swa": {"start": 0.1}}, collect, validate=fail, **SIZES)
    with pytest.raises(RuntimeError, match="validation failed"):
        trainer.train()
    assert len(collect.weights) == 5
    assert same(copy(trainer.model), collect.weights[-1])


def test_a_training_that_stops_before_the_start_keeps_its_weights(tmp_path: Path) -> None:
    trainer = trainer_of(
        tmp_path, {"swa": {"start": 0.9}}, validate=lambda _: {"f1": 0.0}, **SIZES, patience=1
    )
    assert trainer.train().stopped_early
    assert same(copy(trainer.model), last_weights(tmp_path))


@pytest.mark.parametrize("settings", [{"cycle": 6}, {"start": 0.99, "cycle": 2}])
def test_a_training_without_a_whole_cycle_is_told(tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(RecipeError) as caught:
        trainer_of(tmp_path, {"swa": settings}, **SIZES).train()
    assert caught.value.code == "no-whole-cycle"
    assert "plugins.swa.cycle" in str(caught.value)


# --- batch norm ------------------------------------------------------------------------------


class Normed(MentionTyping):
    """With batch norm between its layers."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(32)

    def classify(self, embedded: Tensor) -> Tensor:
        return self.scores(self.norm(self.hidden(embedded.flatten(1))).tanh())


def test_statistics_of_batch_norm_are_those_of_the_averaged_weights(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, {"swa": {"start": 0.5}}, model=Normed(), **SIZES)
    trainer.train()
    model = trainer.model
    examples = sorted(model.prepare(documents("train")[:10]), key=lambda e: e.tokens)
    means, variances = [], []
    for start in range(0, 10, 2):
        batch = model.collate(examples[start : start + 2])
        hidden = model.hidden(model.words(batch.words).flatten(1)).detach()  # (mentions, 32)
        means.append(hidden.mean(0))
        variances.append(hidden.var(0))
    torch.testing.assert_close(model.norm.running_mean, torch.stack(means).mean(0))
    torch.testing.assert_close(model.norm.running_var, torch.stack(variances).mean(0))


def test_training_keeps_its_own_statistics_of_batch_norm(tmp_path: Path) -> None:
    def run(name: str, tables: dict[str, Any]) -> Weights:
        settings = {**SIZES, "schedule": "constant", "warmup": 0}
        validate = {"validate": lambda model: {"f1": accuracy(model)}}
        trainer_of(tmp_path / name, tables, model=Normed(), **validate, **settings).train()
        return last_weights(tmp_path / name)

    plain, averaged = run("plain", {}), run("swa", {"swa": {"start": 0.3, "rate": 1.0}})
    assert same(plain, averaged)
