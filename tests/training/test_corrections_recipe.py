"""configs/corrections.toml trains the shipped model further on what people have said."""

from pathlib import Path

import pytest

import factloom
from factloom import formats
from factloom.document import Document
from factloom.errors import ModelError, RecipeError
from factloom.graph.lessons import write_lessons
from factloom.graph.store import Store
from factloom.models.storage import load
from factloom.training.recipe import read_recipe
from factloom.training.run import train_recipe

RECIPE = Path(__file__).parents[2] / "configs" / "corrections.toml"


def test_the_shipped_model_is_trained_further_on_lessons(
    profiles: list[Document], tmp_path: Path
) -> None:
    extract = factloom.load()
    text = "Ada Lovelace was born in London. She married William King in 1835."
    found = extract(text).replace(id="ada")
    assert found.relations
    with Store.open(tmp_path / "store") as store:
        store.ingest([found], relation_names=extract.relation_names, model="shipped")
        for number in range(len(found.relations)):
            store.edit().reject(store.fact(f"ada#fact={number}"))
        write_lessons(store, tmp_path / "lessons.jsonl")
    formats.write(profiles, tmp_path / "general.jsonl")
    recipe = read_recipe(
        RECIPE,
        [
            f"data.train=['{tmp_path / 'lessons.jsonl'}']",
            f"data.general=['{tmp_path / 'general.jsonl'}']",
            "data.general_documents=4",
            "data.hold_out=0.5",
            "training.epochs=3",
            "model.denied_weight=2.5",
            "training.learning_rates={ '' = 1e-4 }",
        ],
    )
    results = train_recipe(recipe, tmp_path / "run")
    assert results["training"]["steps"] == 6  # one lesson four times, and two general documents
    first, after = load(recipe.start), load(tmp_path / "run/best")
    assert after.relations == first.relations
    # general documents may have been trained on before: no score is fitted to them
    assert after.settings == first.settings.model_copy(update={"denied_weight": 2.5})
    assert float(after.temperature) == float(first.temperature)
    weights = first.state_dict()
    moved = [name for name, value in after.state_dict().items() if not value.equal(weights[name])]
    assert moved
    assert after.provenance["recipe"]["start"] == recipe.start


def test_a_model_that_is_trained_further_keeps_its_settings() -> None:
    with pytest.raises(RecipeError, match="keeps its settings: block_size"):
        read_recipe(RECIPE, ["model.block_size=8"])


def test_a_model_of_another_kind_is_told(tmp_path: Path, profiles: list[Document]) -> None:
    formats.write(profiles, tmp_path / "mine.jsonl")
    recipe = read_recipe(
        RECIPE,
        [
            "model.kind='atlop'",
            f"data.train=['{tmp_path / 'mine.jsonl'}']",
            "data.general=[]",
            "training.metric='f1'",
        ],
    )
    with pytest.raises(ModelError, match="joint"):
        train_recipe(recipe.model_copy(update={"data": without_names(recipe)}), tmp_path / "run")


def without_names(recipe: object) -> object:
    return recipe.data.model_copy(update={"relation_names": None})
