"""Recipes for a retriever and for REALM, from a file of questions to answers of the commands."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from small_questions import DOCUMENTS
from typer.testing import CliRunner

from factloom import formats
from factloom.cli import app
from factloom.document import Document
from factloom.graph.store import Store
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe


@pytest.fixture(scope="module")
def folder(tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a file of questions, a retriever, and a REALM that has begun with it."""
    path = tmp_path_factory.mktemp("realm")
    formats.write(DOCUMENTS, path / "asked.json", "squad")
    # a corpus without the questions, and with one paragraph more
    others = [Document("Torvik stands in Norvania.", "other"), *DOCUMENTS]
    formats.write([one.replace(questions=()) for one in others], path / "corpus.jsonl")
    given = {"corpus": [str(path / "asked.json")], "pooling": "mean", "vector_width": 16}
    model = {"kind": "inverse_cloze", **given}
    train_recipe(recipe(tiny_encoder_path, path, model, "recall_at_1", 2), path / "ict")
    model = {"kind": "realm", "retriever": str(path / "ict" / "best"), "corpus": given["corpus"]}
    train_recipe(recipe(tiny_encoder_path, path, model, "f1", 25), path / "realm")
    return path


def recipe(encoder: Path, path: Path, model: dict[str, Any], metric: str, epochs: int) -> Recipe:
    file = str(path / "asked.json")
    return Recipe.model_validate(
        {
            "model": model,
            "encoder": {"name": str(encoder), "overlap": 16},
            "data": {"train": [file], "development": [file]},
            "training": {
                "epochs": epochs,
                "validate_every": epochs,
                "batch_size": 4,
                "learning_rates": {"": 3e-3},
                "metric": metric,
            },
        }
    )


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_retriever_and_reader_have_learned(folder: Path) -> None:
    results = json.loads((folder / "ict" / "results.json").read_text())
    assert 0 <= results["development"]["recall_at_1"] <= results["development"]["recall_at_5"] == 1
    results = json.loads((folder / "realm" / "results.json").read_text())
    assert results["development"]["f1"] > 0.7
    assert set(results["scores_fitted"]) >= {"temperature", "threshold"}


def test_it_is_measured_on_another_corpus(folder: Path) -> None:
    model, file = folder / "realm" / "best", folder / "asked.json"
    own = json.loads(run("evaluate", model, file, "--json", "--bootstrap", "0"))
    assert own["f1"] > 0.7
    text = run("evaluate", model, file, "--corpus", folder / "corpus.jsonl", "--json")
    assert json.loads(text)["questions"] == 4
    found = json.loads(run("evaluate", model, file, "--task", "retrieval", "--json"))
    assert found["recall_at_5"] == 1.0
    retriever = folder / "ict" / "best"
    shown = run("evaluate", retriever, file, "--corpus", folder / "corpus.jsonl")
    assert "recall at 20" in shown


def test_a_corpus_is_refused_where_nobody_looks_into_it(folder: Path) -> None:
    predictions = folder / "asked.json"
    result = CliRunner().invoke(
        app, ["evaluate", str(predictions), str(predictions), "--corpus", str(predictions)]
    )
    assert result.exit_code != 0
    assert "--corpus" in result.output


def test_a_store_is_asked_with_it(folder: Path, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "graph", ignore_errors=True)
    with Store.open(tmp_path / "graph") as store:
        told = [one.replace(questions=()) for one in DOCUMENTS]
        store.ingest(told, relation_names={}, model="me 1")
    model = folder / "realm" / "best"
    question = "When was Halden College founded?"
    command = ["ask", question, "--store", tmp_path / "graph", "--reader", model, "--json"]
    content = json.loads(run(*command))
    (answer,) = content["answers"]
    assert answer["kind"] in ("span", "none")
    if answer["kind"] == "span":
        (proof,) = answer["evidence"]
        assert answer["text"] in proof["sentence"]
        assert 0 < answer["score"] < 1
    else:
        assert "passages read" in answer["explanation"]
