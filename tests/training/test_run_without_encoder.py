"""Recipes with `[encoder] name = "none"`: models that read characters by themselves."""

import json
from pathlib import Path

import pytest

import factloom
from factloom import formats
from factloom.document import Document, Mention
from factloom.errors import RecipeError
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe

NAMES = ("马云", "李娜", "王伟", "张敏", "刘洋", "陈静")
PLACES = ("杭州", "北京", "武汉", "南京")


def documents(part: int) -> list[Document]:
    return [
        Document(
            f"{name}在{place}。",
            id=f"{part}-{name}-{place}",
            mentions=(Mention(0, 2, "PER"), Mention(3, 5, "LOC")),
        )
        for number, name in enumerate(NAMES)
        for place in PLACES
        if (number % 3 == 0) == (part == 1)
    ]


def recipe(folder: Path, kind: str) -> Recipe:
    for part, name in enumerate(("train", "dev")):
        formats.write(documents(part), folder / f"{name}.jsonl")
    (folder / "words.txt").write_text("\n".join((*NAMES, *PLACES)), encoding="utf-8")
    small = {"width": 16, "heads": 2, "words": [str(folder / "words.txt")]}
    return Recipe.model_validate(
        {
            "model": {"kind": kind, **({} if kind == "atlop" else small)},
            "encoder": {"name": "none"},
            "data": {
                "train": [str(folder / "train.jsonl")],
                "development": [str(folder / "dev.jsonl")],
            },
            "training": {"epochs": 12, "batch_size": 4, "learning_rates": {"": 1e-2}},
        }
    )


@pytest.mark.parametrize("kind", ["flat", "soft_lexicon"])
def test_a_model_without_an_encoder_is_trained_kept_and_used(tmp_path: Path, kind: str) -> None:
    results = train_recipe(recipe(tmp_path, kind), tmp_path / "run")
    best = tmp_path / "run" / "best"
    assert results["development"]["f1"] > 0.5
    assert {path.name for path in best.iterdir()} == {"config.json", "model.safetensors"}
    config = json.loads((best / "config.json").read_text(encoding="utf-8"))
    assert config["encoder"] is None
    assert "杭" in config["vocabularies"]["characters"]["words"]
    pipeline = factloom.load(best)
    (found,) = pipeline([Document("马云在武汉。")])
    assert {(m.start, m.end) for m in found.mentions} & {(0, 2), (3, 5)}


def test_a_model_that_needs_an_encoder_says_so(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="'atlop' needs a pretrained encoder") as caught:
        train_recipe(recipe(tmp_path, "atlop"), tmp_path / "run")
    assert caught.value.code == "encoder-needed"
