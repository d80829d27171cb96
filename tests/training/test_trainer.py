"""The training loop: its mathematics, its choice of the best model, and its errors."""

import math
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from toy_model import (
    ToyModel,
    last_weights,
    negative_error,
    toy_documents,
    toy_example,
    toy_examples,
    toy_settings,
    toy_source,
)

from factloom.errors import InputError, ModelError, RecipeError
from factloom.training import optimization
from factloom.training.optimization import rate_factor
from factloom.training.sources import BucketedDocuments, ContiguousSegments
from factloom.training.trainer import Trainer


def trained_weights(output: Path, examples: list[Any], **changes: Any) -> dict[str, Tensor]:
    Trainer(ToyModel(), examples, toy_settings(**changes), output).train()
    return last_weights(output)


def assert_close(weights: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert weights.keys() == expected.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(weights[name], tensor, rtol=1e-4, atol=1e-5)


def test_loss_goes_down(tmp_path: Path) -> None:
    examples = toy_examples(40)
    model = ToyModel()
    before = model(model.collate(examples)).loss.item()
    Trainer(model, examples, toy_settings(epochs=12, learning_rates={"": 0.03}), tmp_path).train()
    assert model(model.collate(examples)).loss.item() < 0.5 * before


def test_training_equals_a_plain_loop_over_the_whole_step(tmp_path: Path) -> None:
    examples = toy_examples(13)
    settings = toy_settings(
        batch_size=3,
        accumulation=2,
        batch_terms=7,
        clip=0.3,
        weight_decay=0.1,
        learning_rates={"encoder": 3e-3, "": 1e-2},
    )
    Trainer(ToyModel(), examples, settings, tmp_path).train()

    model, number = ToyModel(), count()
    matrices = {id(model.encoder[0].weight), id(model.head.weight)}
    groups = [
        {"params": [p], "rate": rate, "weight_decay": 0.1 if id(p) in matrices else 0.0}
        for part, rate in ((model.encoder, 3e-3), (model.head, 1e-2))
        for p in part.parameters()
    ]
    optimizer = torch.optim.AdamW(groups, eps=1e-6, fused=False)
    for epoch in range(3):
        for step in BucketedDocuments(examples, settings.bucket_steps).steps(epoch, 6, seed=42):
            factor = rate_factor(next(number), 3 * 3, settings)
            for group in optimizer.param_groups:
                group["lr"] = group["rate"] * factor
            optimizer.zero_grad()
            model(model.collate([examples[index] for index in step])).loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.3)
            optimizer.step()
    assert_close(last_weights(tmp_path), model.state_dict())


@pytest.mark.parametrize(
    "changes",
    [
        {"batch_size": 2, "accumulation": 4},
        {"batch_size": 8, "batch_tokens": 30},
        {"batch_size": 8, "batch_terms": 1},
        {"batch_size": 4, "accumulation": 2, "batch_tokens": 40, "batch_terms": 9},
    ],
    ids=str,
)
def test_accumulation_and_budgets_do_not_change_the_training(
    tmp_path: Path, changes: dict[str, int]
) -> None:
    examples = toy_examples(21)
    whole = trained_weights(tmp_path / "whole", examples, batch_size=8)
    cut = trained_weights(tmp_path / "cut", examples, **changes)
    assert_close(cut, whole)


def test_a_batch_never_holds_more_documents_than_the_batch_size(tmp_path: Path) -> None:
    class Counting(ToyModel):
        largest = 0

        def forward(self, batch: Any) -> Any:
            self.largest = max(self.largest, len(batch.ids))
            return super().forward(batch)

    model = Counting()
    settings = toy_settings(batch_size=3, accumulation=4)
    Trainer(model, toy_examples(20), settings, tmp_path).train()
    assert model.largest == 3


def test_clipping_bounds_the_gradient_but_the_norm_before_is_reported(tmp_path: Path) -> None:
    seen = []

    class Watching(torch.optim.AdamW):
        def step(self, closure: Any = None) -> Any:
            gradients = [
                p.grad for g in self.param_groups for p in g["params"] if p.grad is not None
            ]
            seen.append(float(torch.stack([g.norm() for g in gradients]).norm()))
            return super().step(closure)

    trainer = Trainer(ToyModel(), toy_examples(12), toy_settings(clip=0.01), tmp_path)
    trainer.optimizer.__class__ = Watching
    trainer.train()
    assert len(seen) == trainer.total_steps
    assert max(seen) == pytest.approx(0.01, rel=1e-3)
    assert "gradient_norm" in (tmp_path / "metrics.jsonl").read_text()


def test_documents_without_a_term_are_skipped(tmp_path: Path) -> None:
    examples = toy_examples(6)
    empty = [toy_example(f"empty {i}", 0, torch.Generator()) for i in range(20)]
    weights = trained_weights(tmp_path, examples + empty, batch_size=2)
    assert all(tensor.isfinite().all() for tensor in weights.values())
    assert not weights["head.weight"].equal(ToyModel().head.weight)


def test_the_seed_decides_the_weights(tmp_path: Path) -> None:
    def weights(name: str, seed: int) -> Tensor:
        settings = toy_settings(seed=seed)
        Trainer(ToyModel(dropout=0.5), toy_examples(9), settings, tmp_path / name).train()
        return last_weights(tmp_path / name)["head.weight"]

    first = weights("first", seed=1)
    assert first.equal(weights("again", seed=1))
    assert not first.equal(weights("other", seed=2))


def test_validation_does_not_disturb_the_training(tmp_path: Path) -> None:
    model, examples = ToyModel(dropout=0.5), toy_examples(9)
    Trainer(ToyModel(dropout=0.5), examples, toy_settings(), tmp_path / "without").train()
    Trainer(model, examples, toy_settings(), tmp_path / "with", validate=negative_error).train()
    expected = last_weights(tmp_path / "without")
    assert all(tensor.equal(expected[name]) for name, tensor in model.state_dict().items())


def test_validation_sees_the_model_in_evaluation_mode_and_training_goes_on(tmp_path: Path) -> None:
    modes = []

    def validate(model: nn.Module) -> dict[str, float]:
        modes.append(model.training)
        return {"f1": 0.0}

    class Watching(ToyModel):
        def forward(self, batch: Any) -> Any:
            assert self.training
            return super().forward(batch)

    Trainer(Watching(), toy_examples(9), toy_settings(), tmp_path, validate).train()
    assert modes == [False] * 3


def scores_in_order(*scores: float) -> Any:
    """A validation that returns these one after the other."""
    remaining = iter(scores)
    return lambda model: {"f1": next(remaining), "weight": model.head.bias.item()}


def test_the_best_model_is_saved_and_the_result_tells_of_it(tmp_path: Path) -> None:
    settings = toy_settings(epochs=4)
    validate = scores_in_order(0.1, 0.5, 0.5, 0.3)
    result = Trainer(ToyModel(), toy_examples(9), settings, tmp_path, validate).train()
    assert (result.best_score, result.best_epoch, result.epochs) == (0.5, 2, 4)
    assert not result.stopped_early
    saved = load_file(result.best / "model.safetensors")
    assert float(saved["head.bias"]) == result.best_scores["weight"]
    assert str(result).startswith("best f1 0.5000 after epoch 2 (epochs 4, steps 12, time 0:00:0")


def test_a_score_that_is_no_number_is_never_the_best(tmp_path: Path) -> None:
    validate = scores_in_order(math.nan, 0.2, math.nan)
    result = Trainer(ToyModel(), toy_examples(9), toy_settings(), tmp_path, validate).train()
    assert (result.best_score, result.best_epoch) == (0.2, 2)


def test_training_stops_when_the_score_stays_behind_for_too_long(tmp_path: Path) -> None:
    settings = toy_settings(epochs=9, patience=2)
    validate = scores_in_order(0.3, 0.4, 0.4, 0.1)
    result = Trainer(ToyModel(), toy_examples(9), settings, tmp_path, validate).train()
    assert (result.best_epoch, result.epochs, result.stopped_early) == (2, 4, True)


def test_validation_may_be_rarer_than_epochs_but_the_last_one_has_it(tmp_path: Path) -> None:
    settings = toy_settings(epochs=5, validate_every=2)
    validate = scores_in_order(0.1, 0.2, 0.3)
    result = Trainer(ToyModel(), toy_examples(9), settings, tmp_path, validate).train()
    assert result.best_epoch == 5


def test_validation_and_patience_count_by_steps_where_the_settings_do(tmp_path: Path) -> None:
    settings = toy_settings(steps=20, validate_every_steps=4, patience=2)
    validate = scores_in_order(0.3, 0.4, 0.4, 0.1)
    result = Trainer(ToyModel(), toy_examples(9), settings, tmp_path, validate).train()
    assert (result.best_step, result.best_epoch, result.steps) == (8, None, 16)
    assert result.stopped_early
    assert str(result).startswith("best f1 0.4000 after step 8 (epochs 5, steps 16")


@pytest.mark.parametrize("steps", [7, 8])
def test_the_last_step_is_validated_once(tmp_path: Path, steps: int) -> None:
    settings = toy_settings(steps=steps, validate_every_steps=4)
    validate = scores_in_order(0.1, 0.2)
    result = Trainer(ToyModel(), toy_examples(9), settings, tmp_path, validate).train()
    assert (result.best_step, result.steps) == (steps, steps)


def test_a_smaller_score_is_better_where_the_settings_say_so(tmp_path: Path) -> None:
    settings = toy_settings(epochs=4, smaller_is_better=True, patience=2)
    validate = scores_in_order(0.5, 0.3, 0.4, math.nan)
    result = Trainer(ToyModel(), toy_examples(9), settings, tmp_path, validate).train()
    assert (result.best_score, result.best_epoch, result.stopped_early) == (0.3, 2, True)


def test_steps_may_end_amid_an_epoch_and_the_last_weights_are_a_checkpoint(tmp_path: Path) -> None:
    result = Trainer(ToyModel(), toy_examples(9), toy_settings(steps=5), tmp_path).train()
    assert (result.epochs, result.steps) == (1, 5)
    assert max((tmp_path / "checkpoints").iterdir()).name == "step-00000005"


def test_a_stream_is_trained_for_so_many_steps_but_not_for_epochs(tmp_path: Path) -> None:
    source, settings = toy_source("stream"), toy_settings(steps=6)
    result = Trainer(ToyModel(), source, settings, tmp_path, negative_error).train()
    assert (result.epochs, result.best_step) == (0, 6)
    assert "(steps 6, time" in str(result)
    with pytest.raises(RecipeError, match="have no end"):
        Trainer(ToyModel(), source, toy_settings(epochs=1), tmp_path)


def test_rows_of_contiguous_segments_keep_their_order_in_batches(tmp_path: Path) -> None:
    seen: list[tuple[str, ...]] = []

    class Watching(ToyModel):
        def forward(self, batch: Any) -> Any:
            seen.append(batch.ids)
            return super().forward(batch)

    settings = toy_settings(epochs=1, batch_size=2, accumulation=2)
    source = ContiguousSegments(toy_documents(9))
    Trainer(Watching(), source, settings, tmp_path).train()
    steps = [[source[n].id for n in step] for step in source.steps(0, 4, seed=42)]
    assert seen == [tuple(step[i : i + 2]) for step in steps for i in (0, 2) if step[i:]]


def test_without_validation_the_last_weights_are_saved(tmp_path: Path) -> None:
    result = Trainer(ToyModel(), toy_examples(9), toy_settings(), tmp_path).train()
    saved, last = load_file(result.best / "model.safetensors"), last_weights(tmp_path)
    assert all(saved[name].equal(last[name]) for name in last)
    assert result.best_score is None
    assert str(result).startswith("trained without validation")


def test_an_unknown_metric_is_an_error_that_names_the_known_ones(tmp_path: Path) -> None:
    settings = toy_settings(metric="accuracy")
    trainer = Trainer(ToyModel(), toy_examples(9), settings, tmp_path, negative_error)
    with pytest.raises(RecipeError, match=r"'accuracy'; it has: f1"):
        trainer.train()


def test_a_loss_that_is_no_number_stops_and_names_step_and_documents(tmp_path: Path) -> None:
    examples = toy_examples(12)
    examples[7] = replace(examples[7], targets=examples[7].targets * math.inf)
    settings = toy_settings(batch_size=2, accumulation=2, bucket_steps=1)
    trainer = Trainer(ToyModel(), examples, settings, tmp_path)
    with pytest.raises(ModelError, match=r"the loss of step \d+ \(epoch 1\)") as error:
        trainer.train()
    assert error.value.code == "numbers-not-finite"
    named = error.value.flaw.place.document or ""
    assert "document 7" in named
    assert len(named.split(", ")) == 2  # its batch, not the whole step
    assert all(tensor.isfinite().all() for tensor in trainer.model.state_dict().values())


def test_a_gradient_that_is_no_number_stops_before_it_reaches_the_weights(tmp_path: Path) -> None:
    class Steep(ToyModel):
        """The gradient of a square root at 0 is infinite, its value is not."""

        def forward(self, batch: Any) -> Any:
            output = super().forward(batch)
            return replace(output, loss=output.loss + (self.head.bias * 0).abs().sqrt().sum())

    trainer = Trainer(Steep(), toy_examples(5), toy_settings(), tmp_path)
    with pytest.raises(ModelError, match="the gradient of step 1"):
        trainer.train()
    assert trainer.model.head.bias.isfinite().all()


def test_no_examples_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no document to train on"):
        Trainer(ToyModel(), [], toy_settings(), tmp_path)


def test_mixed_precision_trains_and_leaves_the_model_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set()

    class Watching(ToyModel):
        def forward(self, batch: Any) -> Any:
            seen.add(self.head(self.encoder(batch.rows)).dtype)
            return super().forward(batch)

    monkeypatch.setattr(optimization, "cpu_features", lambda: frozenset({"avx512_bf16"}))
    model, examples = Watching(), toy_examples(9)
    settings = toy_settings(epochs=1, mixed_precision="bf16")
    Trainer(model, examples, settings, tmp_path / "mixed").train()
    assert seen == {torch.bfloat16}
    assert model.head.weight.dtype == torch.float32
    seen.clear()
    Trainer(model, examples, toy_settings(mixed_precision="no"), tmp_path / "plain").train()
    assert seen == {torch.float32}
