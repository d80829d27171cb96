"""`factloom train` with a [dictionary]: its names are what is learned, not the files' mentions."""

from pathlib import Path

import pytest
from small_dictionary import documents, small_recipe

from factloom import formats
from factloom.errors import RecipeError
from factloom.models.storage import load
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe


def short(recipe: Recipe, **model: object) -> Recipe:
    settings = recipe.training.model_copy(update={"epochs": 1, "validate_every": 1})
    return recipe.model_copy(
        update={"training": settings, "model": {**recipe.model, "priors": {}, **model}}
    )


def test_the_dictionary_marks_what_is_trained_on(tmp_path: Path, tiny_encoder_path: Path) -> None:
    bare = [document.replace(mentions=()) for document in documents()]
    recipe = short(small_recipe(tmp_path, tiny_encoder_path))
    formats.write(bare, tmp_path / "texts.jsonl")
    train_recipe(recipe, tmp_path / "out")
    model = load(tmp_path / "out" / "best")
    assert model.types == ("LOC", "PER")
    # two of four persons and two of three places, in a fifth of the words each
    assert model.shares.share == pytest.approx((2 / 15, 1 / 10))
    hashed = model.provenance["data_sha256"]
    assert {Path(path).name for path in hashed} == {"texts.jsonl", "LOC.txt", "person.txt"}


def test_development_documents_keep_their_own_mentions(
    tmp_path: Path, tiny_encoder_path: Path
) -> None:
    """The dictionary's own names are found; measured by its marks, recall would be 1."""
    recipe = small_recipe(tmp_path, tiny_encoder_path, epochs=20)
    names = {**recipe.model, "risk": "unlabelled_negative", "priors": {}}
    results = train_recipe(recipe.model_copy(update={"model": names}), tmp_path / "out")
    assert results["development"]["recall"] == pytest.approx(14 / 24)


def test_a_dictionary_is_nothing_for_relations(tmp_path: Path, tiny_encoder_path: Path) -> None:
    recipe = small_recipe(tmp_path, tiny_encoder_path)
    with pytest.raises(RecipeError) as caught:
        train_recipe(recipe.model_copy(update={"model": {"kind": "atlop"}}), tmp_path / "out")
    assert caught.value.code == "cannot-mark"
