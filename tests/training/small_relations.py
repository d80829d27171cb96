"""A small recipe for relations, for the tests of runs, corpora and provenance."""

from pathlib import Path
from typing import Any

from factloom import formats
from factloom.document import Document
from factloom.training.recipe import Recipe


def relation_recipe(encoder: Path, profiles: list[Document], folder: Path) -> Recipe:
    """Two short epochs of a tiny model; the threshold is fitted, so that it predicts something."""
    formats.write(profiles[:4], folder / "train.jsonl")
    formats.write(profiles[4:6], folder / "dev.jsonl")
    formats.write(profiles[6:], folder / "test.jsonl")
    return Recipe.model_validate(
        {
            "model": {"kind": "atlop", "block_size": 8, "threshold": "global"},
            "encoder": {"name": str(encoder)},
            "data": {
                "train": [str(folder / "train.jsonl")],
                "development": [str(folder / "dev.jsonl")],
                "report": [str(folder / "test.jsonl")],
            },
            "training": {"epochs": 2, "batch_size": 2, "learning_rates": {"": 1e-3}},
        }
    )


def changed(recipe: Recipe, **parts: dict[str, Any]) -> Recipe:
    content = recipe.model_dump()
    return Recipe.model_validate({**content, **{k: {**content[k], **v} for k, v in parts.items()}})
