"""A recipe for a model of mentions, from a CoNLL file to `factloom evaluate` and `predict`."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import factloom
from factloom import formats
from factloom.cli.evaluate import evaluate
from factloom.cli.predict import predict
from factloom.errors import RecipeError
from factloom.training.corpus import read_corpus
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe

SENTENCES = """
Mara B-PER
Velden I-PER
was O
born O
in O
Torvik B-LOC
. O

She O
studied O
at O
Halden B-ORG
College I-ORG
. O

Quillmark B-ORG
Ltd I-ORG
has O
headquarters O
in O
Ashmere B-LOC
. O
"""


@pytest.fixture(scope="module")
def recipe(tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Recipe:
    file = tmp_path_factory.mktemp("conll") / "names.txt"
    file.write_text(SENTENCES.lstrip())
    return Recipe.model_validate(
        {
            "model": {"kind": "tagger", "dropout": 0.0},
            "encoder": {"name": str(tiny_encoder_path)},
            "data": {
                "train": [str(file)],
                "development": [str(file)],
                "report": [str(file)],
                "join_words": 13,
            },
            "training": {"epochs": 25, "batch_size": 2, "learning_rates": {"": 5e-3}},
        }
    )


@pytest.fixture(scope="module")
def run(recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """A training's directory and results."""
    directory = tmp_path_factory.mktemp("run") / "tagger"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("factloom.training.reporting.draw_curves", lambda *_: None)
        return directory, train_recipe(recipe, directory)


def command(function: object, *arguments: object) -> str:
    app = typer.Typer()
    app.command()(function)  # type: ignore[type-var]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.exception
    return result.stdout


def test_sentences_of_a_file_are_read_together(recipe: Recipe) -> None:
    corpus = read_corpus(recipe)
    assert [len(document.sentences) for document in corpus.train] == [2, 1]
    alone = recipe.model_copy(update={"data": recipe.data.model_copy(update={"join_words": 0})})
    assert [len(document.sentences) for document in read_corpus(alone).train] == [1, 1, 1]


def test_a_folder_of_brat_is_trained_on(recipe: Recipe, tmp_path: Path) -> None:
    formats.write(formats.read(recipe.data.train[0]), tmp_path / "brat", "brat")
    content = recipe.model_dump()
    for part in ("train", "development", "report"):
        content["data"][part] = [str(tmp_path / "brat")]
    content["training"]["epochs"] = 1
    results = train_recipe(Recipe.model_validate(content), tmp_path / "run")
    assert list(results["report"]) == [str(tmp_path / "brat")]
    assert (tmp_path / "run" / "best" / "model.safetensors").exists()


def test_the_model_learns_and_its_scores_are_reported(
    recipe: Recipe, run: tuple[Path, dict[str, object]]
) -> None:
    directory, results = run
    assert results["development"] == results["report"][recipe.data.report[0]]
    assert results["development"]["f1"] == 1.0
    assert set(results["development"]) >= {"precision", "recall", "macro_f1", "boundary_f1"}
    assert results["scores_fitted"]["temperature"] > 0
    pipeline = factloom.load(directory / "best")
    assert (pipeline.task, pipeline.join_words) == ("mentions", 13)
    assert pipeline.relation_names == {}


def test_evaluate_measures_mentions(
    recipe: Recipe, run: tuple[Path, dict[str, object]], tmp_path: Path
) -> None:
    model, file = run[0] / "best", recipe.data.train[0]
    kept = tmp_path / "kept.jsonl"
    numbers = json.loads(command(evaluate, model, file, "--json", "--output", kept))
    assert numbers["f1"] == 1.0
    assert numbers["documents"] == 3  # those of the file, not of the joined ones
    assert numbers["per_type"]["ORG"]["support"] == 2
    assert numbers["expected_calibration_error"] is not None
    from_file = json.loads(command(evaluate, kept, file, "--json"))
    assert from_file == numbers
    assert "wrong mentions" in command(evaluate, model, file)


def test_joining_is_as_in_training_unless_said_otherwise(
    recipe: Recipe, run: tuple[Path, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    pipeline = factloom.load(run[0] / "best")
    original = pipeline.model.predict

    def noting(documents, **options):
        asked.append(len(documents))
        return original(documents, **options)

    monkeypatch.setattr(pipeline.model, "predict", noting)
    monkeypatch.setattr(factloom, "load", lambda _: pipeline)
    for option in ((), ("--join-words", 0)):
        command(evaluate, "model", recipe.data.train[0], *option)
    assert asked == [2, 3]


def test_predict_writes_the_documents_of_the_file_with_mentions(
    recipe: Recipe, run: tuple[Path, dict[str, object]], tmp_path: Path
) -> None:
    output = tmp_path / "found.jsonl"
    command(predict, run[0] / "best", recipe.data.train[0], "--output", output)
    gold = list(formats.read(recipe.data.train[0]))
    found = list(formats.read(output))
    assert [document.id for document in found] == [document.id for document in gold]
    spans = [[(m.start, m.end, m.type) for m in document.mentions] for document in found]
    assert spans == [[(m.start, m.end, m.type) for m in document.mentions] for document in gold]
    assert all(0 < m.score < 1 for document in found for m in document.mentions)
    least = sorted(m.score for document in found for m in document.mentions)[2]
    command(
        predict, run[0] / "best", recipe.data.train[0],
        "--output", output, "--minimum-score", least,
    )  # fmt: skip
    kept = [m.score for document in formats.read(output) for m in document.mentions]
    assert len(kept) == 3
    assert min(kept) >= least


def test_predictions_can_be_written_as_conll_again(
    recipe: Recipe, run: tuple[Path, dict[str, object]], tmp_path: Path
) -> None:
    output = tmp_path / "found.conll"
    command(
        predict, run[0] / "best", recipe.data.train[0],
        "--output", output, "--output-format", "conll",
    )  # fmt: skip
    assert output.read_text() == SENTENCES.lstrip()


def test_relations_cannot_be_joined(recipe: Recipe, tmp_path: Path) -> None:
    wrong = recipe.model_copy(update={"model": {"kind": "atlop"}})
    with pytest.raises(RecipeError) as caught:
        train_recipe(wrong, tmp_path / "run")
    assert caught.value.code == "cannot-join"
