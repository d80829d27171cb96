"""A model of names goes on, and learns what pronouns stand for."""

from pathlib import Path

import torch

from factloom.models import storage
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe
from referring_documents import referring_documents


def test_a_model_that_goes_on_learns_what_its_documents_mark(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    referring_documents(tmp_path)
    file = str(tmp_path / "letters.loom")
    first = {
        "model": {"kind": "joint", "block_size": 8, "hidden": 12},
        "encoder": {"name": str(tiny_encoder_path)},
        "data": {"train": [file], "development": [file]},
        "training": {"epochs": 1, "batch_size": 3, "learning_rates": {"": 1e-3}},
    }
    train_recipe(Recipe.model_validate(first), tmp_path / "first")
    begun = storage.load(tmp_path / "first" / "best")
    assert begun.references is None
    second = {
        "start": str(tmp_path / "first" / "best"),
        "model": {"kind": "joint", "reference_weight": 2.0},
        "data": {**first["data"], "references": [file]},
        # all else stays as it is
        "training": {**first["training"], "learning_rates": {"references": 1e-2, "": 0}},
    }
    results = train_recipe(Recipe.model_validate(second), tmp_path / "second")
    assert "references_f1" in results["development"]
    assert "reference_threshold" in results["scores_fitted"]
    ended = storage.load(tmp_path / "second" / "best")
    assert ended.settings.reference_weight == 2.0
    weights = begun.state_dict()
    changed = {
        name
        for name, value in ended.state_dict().items()
        if name not in weights or not torch.equal(value, weights[name])
    }
    fitted = {"temperature", "mention_temperature", "link_scale.threshold"}
    fitted.add("link_scale.temperature")
    assert {name for name in changed if not name.startswith("references.")} <= fitted
    assert ended.references is not None
    assert ended.references.groups.weight.abs().sum() > 0  # which begins with nothing
