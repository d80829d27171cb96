"""From a recipe to a model and its results."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from small_relations import changed

import factloom
from factloom import formats
from factloom.document import Document
from factloom.errors import FactloomError, InputError, ModelError, RecipeError
from factloom.evaluation.facts import facts_of
from factloom.evaluation.relations import evaluate
from factloom.training.corpus import read_corpus
from factloom.training.examiner import DocumentExaminer
from factloom.training.failures import claimed
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe
from factloom.training.trainer import require_metric


def test_results_are_those_of_the_model_that_is_left_behind(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    results = train_recipe(recipe, tmp_path / "run")
    assert (
        json.loads((tmp_path / "run" / "results.json").read_text())["report"] == (results["report"])
    )
    pipeline = factloom.load(tmp_path / "run" / "best")
    known = facts_of(profiles[:4])
    measured = {
        "development": (profiles[4:6], results["development"]),
        "report": (profiles[6:], results["report"][recipe.data.report[0]]),
    }
    for gold, scores in measured.values():
        report = evaluate(gold, pipeline(gold), known)
        assert scores["f1"] == report.f1
        assert scores["ign_f1"] == report.ign_f1
        assert scores["evidence_f1"] == report.evidence_f1
    assert results["development"]["f1"] > 0, "nothing is predicted, so nothing is compared"
    assert results["training"]["epochs"] == 2
    assert float(pipeline.model.temperature) == results["scores_fitted"]["temperature"]
    assert pipeline.model.fit_scores(profiles[4:6]) == pytest.approx(results["scores_fitted"])


def test_a_seed_gives_the_same_model_again(recipe: Recipe, tmp_path: Path) -> None:
    recipe = changed(recipe, training={"epochs": 1})
    for name in ("first", "second"):
        torch.rand(3)
        train_recipe(recipe, tmp_path / name)
    train_recipe(changed(recipe, training={"seed": 7}), tmp_path / "other")
    first, second, other = (
        (tmp_path / name / "best" / "model.safetensors").read_bytes()
        for name in ("first", "second", "other")
    )
    assert first == second
    assert other != first


def test_what_was_held_out_is_left_beside_the_model_and_never_trained_on_by_the_next(
    recipe: Recipe, tmp_path: Path
) -> None:
    first = changed(recipe, data={"development": [], "hold_out": 0.25}, training={"epochs": 1})
    train_recipe(first, tmp_path / "run")
    held = tmp_path / "run" / "held-out.jsonl"
    corpus = read_corpus(first)
    assert list(formats.read(held)) == corpus.development
    next_recipe = changed(recipe, data={"left_out": [str(held)], "development": [str(held)]})
    after = read_corpus(next_recipe)
    assert after.development == corpus.development
    assert after.train == corpus.train


def test_relation_names_are_kept_with_the_model(recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "names.json").write_text('{"P19": "出生地"}', encoding="utf-8")
    recipe = changed(
        recipe,
        data={"relation_names": str(tmp_path / "names.json")},
        training={"epochs": 1},
    )
    train_recipe(recipe, tmp_path / "run")
    assert factloom.load(tmp_path / "run" / "best").relation_names == {"P19": "出生地"}


def no_training(*_: object, **__: object) -> None:
    raise AssertionError("training began before the mistake was found")


@pytest.mark.parametrize(
    ("parts", "kind", "code", "said"),
    [
        ({"model": {"kind": "abacus"}}, ModelError, "unknown-model", "abacus"),
        ({"model": {"block_sise": 3}}, RecipeError, "recipe-setting", "block_sise"),
        ({"data": {"train": ["none.jsonl"]}}, InputError, "file-missing", "none.jsonl"),
        ({"data": {"report": ["none.jsonl"]}}, InputError, "file-missing", "none.jsonl"),
        ({"data": {"train_facts": "none.json"}}, InputError, "file-missing", "none.json"),
        ({"data": {"relation_names": "none.json"}}, RecipeError, "recipe-setting", "none.json"),
        ({"data": {"train": ["$NO_SUCH/a.json"]}}, RecipeError, "recipe-variable", "$NO_SUCH"),
        (
            {"training": {"metric": "nosuch"}},
            RecipeError,
            "unknown-metric",
            "it has: f1, ",
        ),
        ({"plugins": {"vat": {"unlabelled": ["no.txt"]}}}, InputError, "file-missing", "no.txt"),
        ({"plugins": {"swaa": {}}}, RecipeError, "unknown-plugin", "swa"),
        ({"encoder": {"name": "no/encoder"}}, ModelError, "encoder-not-found", "no/encoder"),
        ({"encoder": {"overlap": 600}}, ModelError, "window-too-small", "600"),
    ],
)
def test_mistakes_are_found_before_training(
    recipe: Recipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    parts: dict[str, dict[str, Any]],
    kind: type[FactloomError],
    code: str,
    said: str,
) -> None:
    monkeypatch.setattr("factloom.training.run.Trainer.train", no_training)
    with pytest.raises(kind) as caught:
        train_recipe(changed(recipe, **parts), tmp_path / "run", recipe_name="my.toml")
    assert caught.value.code == code
    assert said in str(caught.value)


@pytest.mark.parametrize("content", ["[1]", "{]", "3"])
def test_relation_names_that_are_no_table_are_told(
    recipe: Recipe, tmp_path: Path, content: str
) -> None:
    (tmp_path / "names.json").write_text(content)
    with pytest.raises(RecipeError, match="relation_names") as caught:
        train_recipe(
            changed(recipe, data={"relation_names": str(tmp_path / "names.json")}), tmp_path / "run"
        )
    assert "names.json" in str(caught.value)


def test_documents_without_a_pair_are_left_out_of_training(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    formats.write([Document("Nobody.", id="x"), profiles[0]], tmp_path / "train.jsonl")
    results = train_recipe(
        changed(recipe, training={"epochs": 1, "batch_size": 1}), tmp_path / "run"
    )
    assert results["training"]["steps"] == 1


def test_every_score_that_a_validation_gives_may_be_the_metric(
    recipe: Recipe, tmp_path: Path
) -> None:
    scores = train_recipe(changed(recipe, training={"epochs": 1}), tmp_path / "run")["training"]
    for metric in scores["best_scores"]:
        require_metric(metric, DocumentExaminer(read_corpus(recipe), "relations").score_names())


def test_an_output_on_a_file_is_told_before_anything_is_read(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factloom.training.run.read_corpus", no_training)
    for name in ("train.jsonl", "train.jsonl/below", "a" * 5000):
        with pytest.raises(InputError):
            train_recipe(recipe, tmp_path / name)


def test_two_trainings_do_not_share_a_folder(recipe: Recipe, tmp_path: Path) -> None:
    with claimed(tmp_path / "run"), pytest.raises(InputError) as caught:
        train_recipe(recipe, tmp_path / "run")
    assert caught.value.code == "training-in-use"
    assert not (tmp_path / "run" / "metrics.jsonl").exists()
