"""From a recipe to documents, a model's provenance and its results."""

import hashlib
import json
import platform
from pathlib import Path
from typing import Any

import pytest
import torch

import factloom
from factloom import formats
from factloom.document import Document
from factloom.errors import FactloomError, InputError, ModelError, RecipeError
from factloom.evaluation.facts import facts_of
from factloom.evaluation.relations import evaluate
from factloom.recipe import Recipe
from factloom.training.run import hold_out, provenance, read_corpus, train_recipe


@pytest.fixture
def recipe(tiny_encoder_path: Path, profiles: list[Document], tmp_path: Path) -> Recipe:
    """Two short epochs of a tiny model; the threshold is fitted, so that it predicts something."""
    formats.write(profiles[:4], tmp_path / "train.jsonl")
    formats.write(profiles[4:6], tmp_path / "dev.jsonl")
    formats.write(profiles[6:], tmp_path / "test.jsonl")
    return Recipe.model_validate(
        {
            "model": {"kind": "atlop", "block_size": 8, "threshold": "global"},
            "encoder": {"name": str(tiny_encoder_path)},
            "data": {
                "train": [str(tmp_path / "train.jsonl")],
                "development": [str(tmp_path / "dev.jsonl")],
                "report": [str(tmp_path / "test.jsonl")],
            },
            "training": {"epochs": 2, "batch_size": 2, "learning_rates": {"": 1e-3}},
        }
    )


def changed(recipe: Recipe, **parts: dict[str, Any]) -> Recipe:
    content = recipe.model_dump()
    return Recipe.model_validate({**content, **{k: {**content[k], **v} for k, v in parts.items()}})


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


def test_provenance_tells_settings_versions_and_fingerprints(recipe: Recipe) -> None:
    found = provenance(recipe)
    train = recipe.data.train[0]
    assert found["data_sha256"][train] == hashlib.sha256(Path(train).read_bytes()).hexdigest()
    assert set(found["data_sha256"]) == {
        *recipe.data.train,
        *recipe.data.development,
        *recipe.data.report,
    }
    weights = Path(recipe.encoder.name) / "model.safetensors"
    assert found["encoder_sha256"] == hashlib.sha256(weights.read_bytes()).hexdigest()
    assert found["versions"]["torch"] == torch.__version__
    assert {"transformers", "tokenizers", "accelerate"} <= set(found["versions"])
    assert found["versions"]["python"] == platform.python_version()
    assert Recipe.model_validate(found["recipe"]) == recipe
    json.dumps(found)


def test_the_fingerprint_of_a_folder_is_that_of_its_pairs(recipe: Recipe, tmp_path: Path) -> None:
    folder = tmp_path / "brat"
    formats.write([Document("Ada left.", "a"), Document("Bob came.", "b")], folder, "brat")
    of_folder = changed(recipe, data={"train": [str(folder)]})

    def fingerprint() -> str:
        return str(provenance(of_folder)["data_sha256"][str(folder)])

    first = fingerprint()
    (folder / "notes.md").write_text("not read")
    assert fingerprint() == first
    (folder / "a.txt").write_text("Ada came.")
    with_other_text = fingerprint()
    (folder / "a.ann").rename(folder / "c.ann")
    (folder / "a.txt").rename(folder / "c.txt")
    assert len({first, with_other_text, fingerprint()}) == 3


def test_fingerprints_cover_every_input_besides_documents(recipe: Recipe, tmp_path: Path) -> None:
    teacher, lists = tmp_path / "teacher", tmp_path / "lists"
    files = {
        "train_facts": tmp_path / "facts.json",
        "relation_names": tmp_path / "names.json",
        "vectors": tmp_path / "vectors.npy",
        "vector words": tmp_path / "words.txt",
        "words": lists / "places.txt",
        "unlabelled": tmp_path / "unlabelled.jsonl",
        "teacher": teacher / "model.safetensors",
    }
    teacher.mkdir()
    lists.mkdir()
    (teacher / "config.json").write_text('{"model": "atlop"}')
    for name, path in files.items():
        path.write_text(name)
    whole = changed(
        recipe,
        model={
            "vectors": str(files["vectors"]),
            "words": ["vectors", "jieba", str(lists), "missing.txt"],
        },
        data={name: str(files[name]) for name in ("train_facts", "relation_names")},
        plugins={
            "vat": {"unlabelled": [str(files["unlabelled"])]},
            "distillation": {"teacher": str(teacher)},
        },
    )
    before = provenance(whole)["data_sha256"]
    assert "jieba" not in before
    for path in files.values():
        path.write_text("changed")
        after = provenance(whole)["data_sha256"]
        (name,) = {name for name, digest in after.items() if digest != before[name]}
        assert path.is_relative_to(name)
        before = after


def test_an_encoder_is_known_by_its_weights_and_none_has_no_fingerprint(
    recipe: Recipe, tmp_path: Path
) -> None:
    def fingerprint(name: str) -> str | None:
        return provenance(changed(recipe, encoder={"name": name}))["encoder_sha256"]

    assert fingerprint("none") is None
    assert fingerprint("nobody/has-fetched-this") is None
    (tmp_path / "a.safetensors").write_text("a")
    one = fingerprint(str(tmp_path))
    (tmp_path / "b.safetensors").write_text("b")
    assert len({None, one, fingerprint(str(tmp_path))}) == 3


def test_documents_are_held_out_by_seed_and_keep_their_order(profiles: list[Document]) -> None:
    kept, held = hold_out(profiles, 0.25, seed=1)
    assert (len(kept), len(held)) == (6, 2)
    assert [document for document in profiles if document in kept] == kept
    assert [document for document in profiles if document in held] == held
    assert {document.id for document in kept + held} == {document.id for document in profiles}
    assert hold_out(profiles, 0.25, seed=1) == (kept, held)
    assert any(hold_out(profiles, 0.25, seed=seed)[1] != held for seed in range(2, 6))


@pytest.mark.parametrize("part", [0.01, 0.99])
def test_too_few_documents_to_hold_out_are_told(profiles: list[Document], part: float) -> None:
    with pytest.raises(RecipeError, match=f"8 documents .* {part}") as caught:
        hold_out(profiles, part, seed=1)
    assert caught.value.code == "too-few-documents"


def test_held_out_documents_are_not_trained_on(recipe: Recipe, profiles: list[Document]) -> None:
    held = changed(recipe, data={"development": [], "hold_out": 0.25})
    corpus = read_corpus(held)
    assert (len(corpus.train), len(corpus.development)) == (3, 1)
    assert corpus.development[0] not in corpus.train
    assert corpus.train_facts == facts_of(corpus.train)
    assert corpus.report == {recipe.data.report[0]: profiles[6:]}


def test_names_only_documents_are_trained_on_without_relations_and_never_measured_ones(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    other = profiles[0].replace(text=profiles[0].text.replace(".", "!"), id="other")
    formats.write([*profiles, other], tmp_path / "names.jsonl")
    names = changed(recipe, data={"names_only": [str(tmp_path / "names.jsonl")]})
    before, after = read_corpus(recipe), read_corpus(names)
    assert after.train[: len(before.train)] == before.train
    *_, added = after.train
    assert added == other.replace(relations=(), candidates=())
    assert len(after.train) == len(before.train) + 1
    assert after.train_facts == before.train_facts
    assert names.data.names_only[0] in provenance(names)["data_sha256"]


def test_train_facts_come_from_their_own_file_where_one_is_given(
    recipe: Recipe, tmp_path: Path
) -> None:
    path = tmp_path / "facts.json"
    path.write_text('[["Ada", "London", "P19"]]')
    corpus = read_corpus(changed(recipe, data={"train_facts": str(path)}))
    assert corpus.train_facts == {("Ada", "London", "P19")}


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


def test_documents_that_cannot_be_told_apart_are_found_before_training(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    formats.write([profiles[4], profiles[4]], tmp_path / "twice.jsonl")
    with pytest.raises(InputError) as caught:
        read_corpus(changed(recipe, data={"development": [str(tmp_path / "twice.jsonl")]}))
    assert caught.value.code == "duplicate-document"


def test_documents_without_a_pair_are_left_out_of_training(
    recipe: Recipe, profiles: list[Document], tmp_path: Path
) -> None:
    formats.write([Document("Nobody.", id="x"), profiles[0]], tmp_path / "train.jsonl")
    results = train_recipe(
        changed(recipe, training={"epochs": 1, "batch_size": 1}), tmp_path / "run"
    )
    assert results["training"]["steps"] == 1
