"""A recipe for RAG, and what the commands say with the model."""

import json
from pathlib import Path

from open_examples import corpus_file, documents
from tiny_generators import folder
from typer.testing import CliRunner

from factloom.cli import app
from factloom.graph.store import Store
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_recipe_trains_and_a_store_is_asked(tiny_encoder_path: Path, tmp_path: Path) -> None:
    file, model = corpus_file(tmp_path), tmp_path / "rag" / "best"
    generator = folder("llama", tiny_encoder_path, tmp_path / "llama")
    kind = {"kind": "rag", "corpus": [file], "generator": generator, "way": "token"}
    content = {
        "model": {**kind, "passages": 2, "beams": 1, "longest_answer": 4},
        "encoder": {"name": str(tiny_encoder_path), "overlap": 16},
        "data": {"train": [file], "development": [file]},
        "training": {
            "epochs": 40,
            "validate_every": 40,
            "batch_size": 8,
            "learning_rates": {"": 5e-3},
        },
    }
    train_recipe(Recipe.model_validate(content), tmp_path / "rag")
    measured = json.loads(run("evaluate", model, file, "--corpus", file, "--json"))
    assert measured["questions"] == 5
    with Store.open(tmp_path / "graph") as store:
        told = [one.replace(questions=(), mentions=()) for one in documents()]
        store.ingest(told, relation_names={}, model="me 1")
    command = ["ask", "Where was Mara born?", "--store", tmp_path / "graph", "--reader", model]
    (answer,) = json.loads(run(*command, "--json"))["answers"]
    assert answer["kind"] == "generated"
    assert answer["supported"] == bool(answer["evidence"])
    doubt = "" if answer["supported"] else "; no passage read says so"
    assert f"(generated, {answer['score']:.2f}{doubt})" in run(*command)
