"""Plug-ins are called at every hook in the documented order, and cannot leave a mess behind."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from toy_model import ToyModel, last_weights, negative_error, toy_examples, toy_settings

from factloom.training import plugin as plugin_module
from factloom.training.plugin import Plugin
from factloom.training.step import Step
from factloom.training.trainer import Trainer

HOOKS = [
    name for name in vars(Plugin) if name.startswith(("on_", "before_", "after_"))
]  # in the order of the file


class Recorder(Plugin):
    """Writes down every hook that is called."""

    def __init__(self, calls: list[str], name: str = "") -> None:
        def recorded(hook: str) -> Any:
            original = getattr(super(Recorder, self), hook)

            def call(*arguments: Any) -> Any:
                calls.append(name + hook)
                return original(*arguments)

            return call

        for hook in HOOKS:
            setattr(self, hook, recorded(hook))


def train(
    output: Path, *plugins: Plugin, validate: Any = negative_error, **changes: Any
) -> Trainer:
    settings = toy_settings(**{"epochs": 1, "batch_size": 2, **changes})
    trainer = Trainer(ToyModel(), toy_examples(4), settings, output, validate, plugins)
    trainer.train()
    return trainer


def test_hooks_are_called_in_the_documented_order(tmp_path: Path) -> None:
    calls: list[str] = []
    train(tmp_path, Recorder(calls), accumulation=2)
    batch = ["before_forward", "after_forward", "before_backward"]
    assert calls == [
        *("on_start", "before_epoch", "before_step"),
        *batch,
        *batch,
        *("after_backward", "after_step", "after_epoch"),
        *("before_validation", "after_validation", "on_end"),
    ]
    assert set(calls) == set(HOOKS)


def test_every_hook_stands_in_the_list_of_hooks() -> None:
    listed = [line.split()[0] for line in plugin_module.__doc__.splitlines() if line[:4] == "    "]
    assert listed == HOOKS


def test_plugins_are_called_in_their_order_and_leave_validation_in_the_reverse(
    tmp_path: Path,
) -> None:
    calls: list[str] = []
    train(tmp_path, Recorder(calls, "first "), Recorder(calls, "second "))
    around = [call for call in calls if call.endswith("validation")]
    assert around == [
        "first before_validation",
        "second before_validation",
        "second after_validation",
        "first after_validation",
    ]


def test_a_plugin_may_add_to_the_loss(tmp_path: Path) -> None:
    class TowardsZero(Plugin):
        def after_forward(self, trainer: Trainer, batch: Any, output: Any) -> Any:  # noqa: ARG002
            return replace(output, loss=1000 * trainer.model.head.weight.square().sum())

        def before_backward(self, trainer: Trainer, batch: Any, loss: Tensor) -> Tensor:  # noqa: ARG002
            return 2 * loss

    trainer = train(tmp_path, TowardsZero(), epochs=20, learning_rates={"": 0.03})
    untrained = ToyModel().head.weight.detach()
    assert trainer.model.head.weight.abs().max() < 0.1 * untrained.abs().max()
    first = json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[0])
    assert first["loss"] == pytest.approx(2000 * float(untrained.square().sum()))


def test_running_a_step_again_adds_its_gradient(tmp_path: Path) -> None:
    gradients: list[tuple[Tensor, Tensor]] = []

    class Again(Plugin):
        def after_backward(self, trainer: Trainer, step: Step) -> None:
            weight = trainer.model.head.weight
            before = weight.grad.clone()
            trainer.backward(step, weight=0.5)
            gradients.append((before, weight.grad.clone()))

    train(tmp_path, Again(), accumulation=2)
    for before, after in gradients:
        torch.testing.assert_close(after, 1.5 * before)
    assert len(gradients) == 1


class Zeros(Plugin):
    """Validates, and saves, a head of zeros."""

    kept: Tensor | None = None

    def before_validation(self, trainer: Trainer) -> None:
        self.kept = trainer.model.head.weight.detach().clone()
        nn.init.zeros_(trainer.model.head.weight)

    def after_validation(self, trainer: Trainer) -> None:
        assert self.kept is not None
        with torch.no_grad():
            trainer.model.head.weight.copy_(self.kept)


def test_weights_put_in_for_validation_are_saved_as_best_and_taken_out_again(
    tmp_path: Path,
) -> None:
    seen = []

    def validate(model: nn.Module) -> dict[str, float]:
        seen.append(model.head.weight.abs().max().item())
        return {"f1": 1.0}

    train(tmp_path / "plain")
    trainer = train(tmp_path / "zeros", Zeros(), validate=validate)
    assert seen == [0.0]
    saved = (tmp_path / "zeros" / "best" / "model.safetensors").read_bytes()
    with torch.no_grad():
        expected = last_weights(tmp_path / "plain")["head.weight"]
        assert trainer.model.head.weight.equal(expected)
        trainer.model.head.weight.zero_()
    trainer.model.save_pretrained(tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == saved


def test_a_failing_validation_takes_the_weights_out_again(tmp_path: Path) -> None:
    def fail(model: nn.Module) -> dict[str, float]:  # noqa: ARG001
        raise RuntimeError("validation failed")

    settings = toy_settings(epochs=1)
    trainer = Trainer(ToyModel(), toy_examples(4), settings, tmp_path, fail, [Zeros()])
    with pytest.raises(RuntimeError, match="validation failed"):
        trainer.train()
    assert trainer.model.head.weight.abs().max() > 0


def test_a_failing_hook_takes_the_weights_of_the_others_out_again(tmp_path: Path) -> None:
    class Failing(Plugin):
        def before_validation(self, trainer: Trainer) -> None:  # noqa: ARG002
            raise RuntimeError("hook failed")

    settings = toy_settings(epochs=1)
    plugins = [Zeros(), Failing()]
    trainer = Trainer(ToyModel(), toy_examples(4), settings, tmp_path, negative_error, plugins)
    with pytest.raises(RuntimeError, match="hook failed"):
        trainer.train()
    assert trainer.model.head.weight.abs().max() > 0


def test_the_state_of_a_plugin_comes_back_on_resume(tmp_path: Path) -> None:
    class Average(Plugin):
        def on_start(self, trainer: Trainer) -> None:
            self.sum = torch.zeros_like(trainer.model.head.weight)
            self.seen = {"steps": [0]}

        def after_step(self, trainer: Trainer, step: Step) -> None:
            self.sum += trainer.model.head.weight.detach()
            self.seen["steps"].append(step.number)
            if step.number == self.fails_at:
                raise KeyboardInterrupt

        def state_dict(self) -> dict[str, Any]:
            return {"sum": self.sum, "seen": self.seen}

        def load_state_dict(self, state: Any) -> None:
            self.sum, self.seen = state["sum"], state["seen"]

        fails_at = -1

    def run(output: Path, fails_at: int) -> Average:
        average = Average()
        average.fails_at = fails_at
        settings = toy_settings(epochs=4, batch_size=2)
        trainer = Trainer(ToyModel(), toy_examples(4), settings, output, plugins=[average])
        trainer.train(resume=True)
        return average

    expected = run(tmp_path / "plain", -1)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "resumed", 5)
    resumed = run(tmp_path / "resumed", -1)
    assert resumed.sum.equal(expected.sum)
    assert resumed.seen == expected.seen == {"steps": list(range(9))}
