"""A recipe for MRC, from a nested corpus to results; plug-ins, resuming, new characters."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import factloom
from factloom import formats
from factloom.encoders.encoder import Encoder
from factloom.errors import RecipeError
from factloom.models.mrc import Mrc, MrcSettings
from factloom.training.plugin import Plugin
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe
from factloom.training.trainer import Trainer

SENTENCES: list[dict[str, Any]] = [
    {
        "doc_id": "one",
        "tokens": ["Halden", "College", "of", "Torvik", "was", "founded"],
        "entity_mentions": [
            {"start": 0, "end": 4, "entity_type": "ORG"},
            {"start": 3, "end": 4, "entity_type": "LOC"},
        ],
    },
    {
        "doc_id": "one",
        "tokens": ["Mara", "Velden", "of", "东京", "studied", "in", "东京"],
        "entity_mentions": [
            {"start": 0, "end": 2, "entity_type": "PER"},
            {"start": 3, "end": 4, "entity_type": "LOC"},
            {"start": 6, "end": 7, "entity_type": "LOC"},
        ],
    },
    {"doc_id": "two", "tokens": ["It", "is", "there", "."], "entity_mentions": []},
]


@pytest.fixture(scope="module")
def content(tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("genia") / "nested.jsonl"
    file.write_text("".join(json.dumps(sentence) + "\n" for sentence in SENTENCES))
    return {
        "model": {
            "kind": "mrc",
            "negative_questions": 0.4,
            "questions": {"PER": "Who?", "LOC": "Where?", "ORG": "Which company?"},
        },
        "encoder": {"name": str(tiny_encoder_path), "overlap": 16},
        "data": {"train": [str(file)], "development": [str(file)], "report": [str(file)]},
        "training": {"epochs": 2, "batch_size": 2, "learning_rates": {"": 3e-3}},
    }


def recipe(content: dict[str, Any], **parts: dict[str, Any]) -> Recipe:
    """The recipe with some settings exchanged in its parts."""
    whole = {**content, **{name: content.get(name, {}) | more for name, more in parts.items()}}
    return Recipe.model_validate(whole)


def test_nested_names_are_learned_and_reported(content: dict[str, Any], tmp_path: Path) -> None:
    chosen = recipe(content, training={"epochs": 60, "validate_every": 60})
    results = train_recipe(chosen, tmp_path / "run")
    assert results["development"]["f1"] == 1.0
    assert results["report"][chosen.data.report[0]] == results["development"]
    found = factloom.load(tmp_path / "run" / "best")
    assert found.task == "mentions"
    assert found.model.settings.longest_span == 4


def test_passages_without_any_answer_are_trained_on_too(content: dict[str, Any]) -> None:
    chosen = recipe(content)
    documents = list(formats.read(chosen.data.train[0]))
    encoder = Encoder.load(chosen.encoder.name, overlap=16)
    settings = MrcSettings(**chosen.model_settings)
    model = Mrc.from_documents(encoder, documents, settings).train()
    silent = model.prepare(documents)[2]
    assert silent.terms == 4
    assert model.collate([silent]).weight == 12


@pytest.mark.parametrize("plugin", ["fgm", "pgd", "vat", "swa"])
def test_plugins_of_the_trainer_work_with_it(
    content: dict[str, Any], tmp_path: Path, plugin: str
) -> None:
    results = train_recipe(recipe(content, plugins={plugin: {}}), tmp_path / "run")
    assert set(results["development"]) >= {"f1", "nested_recall"}


class Interrupt(Plugin):
    epoch: int | None = None

    def before_epoch(self, trainer: Trainer) -> None:
        if trainer.progress.epoch == self.epoch:
            raise KeyboardInterrupt


def test_a_resumed_training_draws_the_same_questions_and_spans(
    content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factloom.training.run.make_plugins", lambda *_: [Interrupt()])
    train_recipe(recipe(content), tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(Interrupt, "epoch", 1)
        with pytest.raises(KeyboardInterrupt):
            train_recipe(recipe(content), tmp_path / "broken")
    train_recipe(recipe(content), tmp_path / "broken", resume=True)
    expected, found = (
        load_file(next((tmp_path / name / "checkpoints").glob("*/model.safetensors")))
        for name in ("whole", "broken")
    )
    assert all(torch.equal(found[name], weights) for name, weights in expected.items())


def test_characters_that_the_encoder_does_not_know_are_learned(
    content: dict[str, Any], tmp_path: Path
) -> None:
    for name, new in (("old", False), ("new", True)):
        train_recipe(recipe(content, encoder={"new_characters": new}), tmp_path / name)
        encoder = factloom.load(tmp_path / name / "best").model.encoder
        ids = encoder.tokenize(["东京"])[0].ids
        assert (encoder.tokenizer.unk_token_id in ids) is not new


def test_reading_with_questions_needs_an_encoder(content: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        train_recipe(recipe(content, encoder={"name": "none"}), tmp_path)
    assert caught.value.code == "encoder-needed"
