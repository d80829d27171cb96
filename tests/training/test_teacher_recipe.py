"""`factloom train` with a [teacher]: what a model is sure of is what is learned."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from small_dictionary import documents, small_recipe

from factloom.document import Document
from factloom.errors import RecipeError
from factloom.layouts.word_documents import WordExample
from factloom.models.storage import load
from factloom.models.tagger import Tagger
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe


def student(teacher: Recipe, model: Path, **settings: object) -> Recipe:
    """A tagger on the same files, that a trained model teaches."""
    content = teacher.model_dump() | {"dictionary": None, "model": {"kind": "tagger"}}
    content["training"] |= {"learning_rates": {"": 5e-3}}
    return Recipe.model_validate(content | {"teacher": {"model": str(model), **settings}})


@pytest.fixture(scope="module")
def teacher(
    tmp_path_factory: pytest.TempPathFactory, tiny_encoder_path: Path
) -> tuple[Recipe, Path]:
    """A recipe with a dictionary of half the names, and the model that it has given."""
    folder = tmp_path_factory.mktemp("teacher")
    recipe = small_recipe(folder, tiny_encoder_path)
    train_recipe(recipe, folder / "out")
    return recipe, folder / "out" / "best"


def test_the_student_sees_what_the_teacher_is_sure_of(
    teacher: tuple[Recipe, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, model = teacher
    seen: list[Document] = []
    prepare = Tagger.prepare

    def looked_at(model: Tagger, documents: Sequence[Document]) -> list[WordExample]:
        seen.extend(documents)
        return prepare(model, documents)

    monkeypatch.setattr(Tagger, "prepare", looked_at)
    train_recipe(student(recipe, model, sure=0.55), tmp_path / "out")
    texts = [document.without_mentions() for document in documents()]
    assert seen[: len(texts)] == load(model).predict_sure(texts, 0.55)
    assert any(document.mentions for document in seen[: len(texts)])


def test_the_student_learns_and_tells_who_has_taught_it(
    teacher: tuple[Recipe, Path], tmp_path: Path
) -> None:
    recipe, model = teacher
    results = train_recipe(student(recipe, model, sure=0.5), tmp_path / "out")
    assert results["development"]["f1"] > 0.5  # measured by the files' own mentions
    learned = load(tmp_path / "out" / "best")
    assert str(model) in learned.provenance["data_sha256"]
    assert learned.provenance["recipe"]["teacher"] == {"model": str(model), "sure": 0.5}


def test_a_teacher_that_is_sure_of_nothing_is_told(
    teacher: tuple[Recipe, Path], tmp_path: Path
) -> None:
    recipe, model = teacher
    with pytest.raises(RecipeError) as caught:
        train_recipe(student(recipe, model, sure=1.0), tmp_path / "out")
    assert caught.value.code == "teacher-unsure"
    assert str(model) in str(caught.value)


def test_a_teacher_is_nothing_for_relations(teacher: tuple[Recipe, Path], tmp_path: Path) -> None:
    recipe = student(*teacher).model_copy(update={"model": {"kind": "atlop"}})
    with pytest.raises(RecipeError) as caught:
        train_recipe(recipe, tmp_path / "out")
    assert caught.value.code == "cannot-mark"


def test_who_has_a_teacher_has_no_dictionary(teacher: tuple[Recipe, Path]) -> None:
    recipe, model = teacher
    with pytest.raises(ValueError, match="either a dictionary or a teacher"):
        Recipe.model_validate(recipe.model_dump() | {"teacher": {"model": str(model)}})
