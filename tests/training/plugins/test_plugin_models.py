"""The plug-ins work with the models of the package, from a recipe on."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from factloom import formats
from factloom.document import Document, Entity, Mention, Sentence
from factloom.encoders.encoder import Encoder
from factloom.errors import RecipeError
from factloom.models.storage import model_class, model_settings
from factloom.training.plugin import Plugin
from factloom.training.plugins import make_plugins
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe
from factloom.training.settings import TrainingSettings
from factloom.training.step import Step
from factloom.training.trainer import Trainer

SMALL = {"block_size": 8}
KINDS = {
    "atlop": ("atlop", SMALL),
    "atlop, global threshold": ("atlop", {**SMALL, "threshold": "global"}),
    "docre_sd": ("docre_sd", SMALL),
    "joint": ("joint", {**SMALL, "hidden": 8}),
    "coreference": ("coreference", {"hidden": 8}),
    "tagger": ("tagger", {}),
    "tagger without CRF": ("tagger", {"output": "softmax"}),
    "mrc": ("mrc", {}),
    "positive_unlabelled": ("positive_unlabelled", {}),
    "flat": ("flat", {"words": [], "width": 16, "heads": 2, "inner": 16}),
    "soft_lexicon": ("soft_lexicon", {"lexicon": "none", "width": 16}),
}
PLUGINS = {
    "fgm": {"epsilon": 0.5},
    "fgsm": {"epsilon": 0.01},
    "pgd": {"steps": 2},
    "vat": {"epsilon": 0.5},
    "swa": {"start": 0.5},
}
OF_RELATIONS = {"r_drop": {"weight": 2.0}, "distillation": {"weight": 2.0}}
RELATION_KINDS = ("atlop", "atlop, global threshold", "docre_sd", "joint")
ADVERSARIAL_PASSES = {"fgm": 1, "fgsm": 1, "pgd": 2}
CASES = [(kind, name) for kind in KINDS for name in PLUGINS]
ALONE = Document(
    text="Mara Velden was born.",
    id="alone",
    sentences=(Sentence(0, 21),),
    mentions=(Mention(0, 11, "PER"),),
    entities=(Entity((0,), "PER"),),
)


class Watch(Plugin):
    """The word embeddings in every pass of the first step, and behind the last of them."""

    def __init__(self, table: Tensor) -> None:
        self.table = table
        self.passes: list[Tensor] = []
        self.behind: Tensor | None = None

    def before_forward(self, trainer: Trainer, batch: Any) -> None:  # noqa: ARG002
        if self.behind is None:
            self.passes.append(self.table.detach().clone())

    def after_backward(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        if self.behind is None:
            self.behind = self.table.detach().clone()


class Training:
    """Two steps of two documents each time, with a fresh model."""

    def __init__(self, encoder: Path, documents: list[Document], output: Path) -> None:
        self.encoder = encoder
        self.documents = documents
        self.output = output

    def model(self, kind: str) -> nn.Module:
        name, chosen = KINDS[kind]
        settings = model_settings(name).model_validate(chosen)
        encoder = Encoder.load(str(self.encoder))
        with torch.random.fork_rng():
            torch.manual_seed(3)
            return model_class(name).from_documents(encoder, self.documents, settings)

    def run(self, kind: str, tables: dict[str, Any]) -> tuple[nn.Module, Watch]:
        model = self.model(kind)
        watch = Watch(model.encoder.backbone.embeddings.word_embeddings.weight)
        settings = TrainingSettings(epochs=2, batch_size=2, learning_rates={"": 1e-3})
        plugins = [*make_plugins(tables), watch]
        examples = model.prepare(self.documents)
        output = self.output / "-".join([kind, *tables])
        Trainer(model, examples, settings, output, plugins=plugins).train()
        return model, watch

    @cache  # noqa: B019 - as long as the tests of this file
    def plain_weights(self, kind: str) -> dict[str, Tensor]:
        return self.run(kind, {})[0].state_dict()


@pytest.fixture(scope="module")
def training(
    tiny_encoder_path: Path, profiles: list[Document], tmp_path_factory: pytest.TempPathFactory
) -> Training:
    return Training(tiny_encoder_path, profiles[:2], tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_model_is_trained_with_a_plugin_and_its_embeddings_come_back(
    training: Training, kind: str, name: str
) -> None:
    model, watch = training.run(kind, {name: PLUGINS[name]})
    assert watch.behind is not None
    assert watch.behind.equal(watch.passes[0])
    moved = [not table.equal(watch.passes[0]) for table in watch.passes]
    assert moved == [False, *[True] * ADVERSARIAL_PASSES.get(name, 0)]
    weights, plain = model.state_dict(), training.plain_weights(kind)
    assert all(value.isfinite().all() for value in weights.values())
    assert any(not weights[key].equal(plain[key]) for key in weights)


@pytest.mark.parametrize("kind", RELATION_KINDS)
@pytest.mark.parametrize("name", OF_RELATIONS)
def test_a_model_of_relations_is_trained_with_what_compares_relations(
    training: Training, kind: str, name: str, tmp_path: Path
) -> None:
    """Also from documents without a pair."""
    training = Training(training.encoder, [*training.documents, ALONE], tmp_path)
    settings: dict[str, Any] = dict(OF_RELATIONS[name])
    if name == "distillation":
        training.model(kind).save_pretrained(tmp_path / "teacher")
        settings["teacher"] = str(tmp_path / "teacher")
    weights = training.run(kind, {name: settings})[0].state_dict()
    plain = training.plain_weights(kind)
    assert all(value.isfinite().all() for value in weights.values())
    assert any(not weights[key].equal(plain[key]) for key in weights)


def test_a_teacher_that_reads_in_another_way_is_refused(training: Training, tmp_path: Path) -> None:
    training.model("joint").save_pretrained(tmp_path / "teacher")
    with pytest.raises(RecipeError, match="other marker, types"):
        training.run("atlop", {"distillation": {"teacher": str(tmp_path / "teacher")}})


def test_a_recipe_with_all_of_them_trains_and_keeps_them_in_the_provenance(
    tiny_encoder_path: Path, profiles: list[Document], tmp_path: Path
) -> None:
    formats.write(profiles[:4], tmp_path / "train.jsonl")
    formats.write(profiles[4:6], tmp_path / "dev.jsonl")
    recipe = Recipe.model_validate(
        {
            "model": {"kind": "atlop", "block_size": 8},
            "encoder": {"name": str(tiny_encoder_path)},
            "data": {
                "train": [str(tmp_path / "train.jsonl")],
                "development": [str(tmp_path / "dev.jsonl")],
            },
            "training": {"epochs": 1, "batch_size": 2},
            "plugins": {**PLUGINS, "vat": {"unlabelled": [str(tmp_path / "dev.jsonl")]}},
        }
    )
    results = train_recipe(recipe, tmp_path / "run")
    assert results["training"]["steps"] == 2
    model = model_class("atlop").from_pretrained(tmp_path / "run" / "best")
    assert list(model.provenance["recipe"]["plugins"]) == list(PLUGINS)
