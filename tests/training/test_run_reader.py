"""A recipe for the reader, from SQuAD's form to results, and what commands do with the model."""

import json
from pathlib import Path
from typing import Any

import pytest
from small_questions import DOCUMENTS
from typer.testing import CliRunner

import factloom
from factloom import formats
from factloom.cli import app
from factloom.errors import ModelError, RecipeError
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe


@pytest.fixture(scope="module")
def folder(tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a file of questions, and a model that has learned them."""
    path = tmp_path_factory.mktemp("reader")
    formats.write(DOCUMENTS, path / "asked.json", "squad")
    train_recipe(Recipe.model_validate(content(tiny_encoder_path, path)), path / "run")
    return path


def content(encoder: Path, path: Path, **data: Any) -> dict[str, Any]:
    file = str(path / "asked.json")
    return {
        "model": {"kind": "reader", "dropout": 0.0},
        "encoder": {"name": str(encoder), "overlap": 16},
        "data": {
            "train": [file],
            "development": [file],
            "report": [file],
            "other_passages": 1,
            **data,
        },
        "training": {"epochs": 12, "batch_size": 4, "learning_rates": {"": 3e-3}},
    }


def test_a_recipe_trains_fits_and_measures(folder: Path) -> None:
    results = json.loads((folder / "run" / "results.json").read_text())
    assert {"threshold", "temperature", "no_answer_temperature"} <= results["scores_fitted"].keys()
    assert results["development"]["has_answer_f1"] > 0.5
    (measured,) = results["report"].values()
    assert measured == results["development"]
    assert "no_answer_auc" not in measured  # all questions of the file have an answer


def test_a_model_is_evaluated_and_its_predictions_are_kept(folder: Path) -> None:
    arguments = [str(folder / "run" / "best"), str(folder / "asked.json"), "--json"]
    kept = folder / "found.jsonl"
    result = CliRunner().invoke(app, ["evaluate", *arguments, "--output", str(kept)])
    assert result.exit_code == 0, result.output
    numbers = json.loads(result.stdout)
    assert numbers["questions"] == 4
    arguments[0] = str(kept)
    again = CliRunner().invoke(app, ["evaluate", *arguments, "--task", "answers"])
    assert json.loads(again.stdout) == numbers
    assert CliRunner().invoke(app, ["evaluate", *arguments]).stdout == again.stdout


def test_a_pipeline_answers_the_questions_of_documents(folder: Path) -> None:
    pipeline = factloom.load(folder / "run" / "best")
    found = pipeline(DOCUMENTS)
    assert any(question.answers for document in found for question in document.questions)
    for document in found:
        for question in document.questions:
            for answer in question.answers or ():
                assert answer.start is not None
                assert document.text[answer.start : answer.end] == answer.text
                assert answer.score == round(answer.score or 0, 3)
    with pytest.raises(ModelError, match="questions-needed"):
        pipeline("Mara was born in Torvik.")


def test_other_models_ask_no_questions(tiny_encoder_path: Path, tmp_path: Path) -> None:
    recipe = content(tiny_encoder_path, tmp_path) | {"model": {"kind": "tagger"}}
    with pytest.raises(RecipeError, match="no-questions-here"):
        train_recipe(Recipe.model_validate(recipe), tmp_path / "run")
