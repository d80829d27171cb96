"""Encoders that read with knowledge, whatever the model over them."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch

import factloom
from factloom.document import Document, Entity, Mention, Sentence
from factloom.encoders.encoder import Encoder
from factloom.graph.knowledge_base import KnownEntity
from factloom.graph.store import Store
from factloom.knowledge.reading import KnowledgeReader, read_with
from factloom.knowledge.reading_settings import KnowledgeSettings
from factloom.knowledge.tables import Tables
from factloom.knowledge.token_names import TokenNames
from factloom.models.atlop import Atlop, AtlopSettings
from factloom.models.joint import Joint, JointSettings
from factloom.models.tagger import Tagger, TaggerSettings
from factloom.training.recipe import EncoderRecipe

LAYERS = ("attention", "memory")
MODELS = {
    "tagger": (Tagger, TaggerSettings()),
    "atlop": (Atlop, AtlopSettings(block_size=8)),
    "joint": (Joint, JointSettings(block_size=8)),
}


def names_of(documents: list[Document]) -> list[str]:
    return sorted({d.mention_name(m) for d in documents for e in d.entities for m in e.mentions})


@pytest.fixture
def base(profiles: list[Document], tmp_path: Path) -> Path:
    names = names_of(profiles[:3])
    entities = [KnownEntity(f"Q{n}", {name: 2}, "X", "known") for n, name in enumerate(names)]
    others = [KnownEntity(f"P{n}", {name: 1}, "Y", "other") for n, name in enumerate(names)]
    Tables.build([*entities, *others]).save(tmp_path / "base")
    return tmp_path / "base"


def encoder_with(path: Path, base: Path, layer: Any) -> Encoder:
    torch.manual_seed(0)
    settings = KnowledgeSettings(path=str(base), describer=str(path), layer=layer)
    return read_with(Encoder.load(str(path), overlap=16), settings)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("kind", MODELS)
def test_every_model_reads_with_knowledge_learns_it_and_keeps_it(
    kind: str,
    layer: str,
    base: Path,
    profiles: list[Document],
    tiny_encoder_path: Path,
    tmp_path: Path,
) -> None:
    documents = profiles[:3]
    encoder = encoder_with(tiny_encoder_path, base, layer)
    model_class, settings = MODELS[kind]
    model: Any = model_class.from_documents(encoder, documents, settings)
    model.train()
    model(model.collate(model.prepare(documents))).loss.backward()
    parts = dict(encoder.between.layer.named_parameters())  # type: ignore[union-attr]
    # no candidate is refused; shifts of all scores, as the candidates of a name have one way
    unused = {"null", "scorer.2.bias", "sign_weight"}
    without = {n for n, w in parts.items() if w.grad is None or not w.grad.abs().sum() > 0}
    assert without <= unused
    model.eval().save_pretrained(tmp_path / "model")
    loaded = factloom.load(str(tmp_path / "model")).model
    assert isinstance(loaded.encoder.between, KnowledgeReader)
    assert loaded.predict(documents) == model.predict(documents)


@pytest.mark.parametrize("layer", LAYERS)
def test_what_is_known_changes_what_is_read_and_nothing_else_does(
    layer: str, base: Path, tiny_encoder_path: Path, profiles: list[Document]
) -> None:
    encoder = encoder_with(tiny_encoder_path, base, layer).eval()
    reader = encoder.between
    assert isinstance(reader, KnowledgeReader)
    name = names_of(profiles[:3])[0]
    windows = encoder.batch([each.ids for each in encoder.tokenize([f"{name} came.", "Nobody."])])
    with torch.no_grad():
        first = encoder.states(windows)
        torch.testing.assert_close(encoder.states(windows), first)
        with reader.source.replaced(Tables.build([KnownEntity("Q1", {name: 1}, "Y", "another")])):
            assert not torch.allclose(encoder.states(windows)[0], first[0], atol=1e-6)
            torch.testing.assert_close(encoder.states(windows)[1], first[1])
        with reader.source.replaced(Tables.build([])):
            unknown = encoder.states(windows)
        encoder.between = None
        if layer == "attention":  # who knows nothing reads as before
            torch.testing.assert_close(unknown, encoder.states(windows))


def test_a_base_that_has_changed_is_looked_at_again(base: Path, tiny_encoder_path: Path) -> None:
    encoder = encoder_with(tiny_encoder_path, base, "attention").eval()
    windows = encoder.batch([encoder.tokenize(["Torvik came."])[0].ids])
    with torch.no_grad():
        Tables.build([]).save(base)
        before = encoder.states(windows)
        Tables.build([KnownEntity("Q1", {"Torvik": 1}, "LOC", "a town")]).save(base)
        for file in base.iterdir():
            os.utime(file, ns=(1, 1))  # whatever the clock of the file system says
        assert not torch.allclose(encoder.states(windows), before, atol=1e-6)


def test_what_comes_into_a_store_is_read_without_training(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    def add(id: str, text: str) -> None:
        mentions = (Mention(0, len(text), "LOC"),)
        document = Document(text, id, (Sentence(0, len(text)),), mentions, (Entity((0,), "LOC"),))
        with Store.open(tmp_path / "graph") as store:
            store.ingest([document], relation_names={}, model="m")

    add("a", "Ashmere")
    encoder = encoder_with(tiny_encoder_path, tmp_path / "graph", "attention").eval()
    windows = encoder.batch([encoder.tokenize(["Torvik came."])[0].ids])
    with torch.no_grad():
        before = encoder.states(windows)
        add("b", "Torvik")
        assert not torch.allclose(encoder.states(windows), before, atol=1e-6)
        with Store.open(tmp_path / "graph") as store:
            store.delete("b")
        torch.testing.assert_close(encoder.states(windows), before)


def test_names_are_the_longest_ones_and_no_parts_of_words(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    known = ["Mara Velden", "Mara", "Torvik", "x"]
    names = TokenNames(encoder, known)
    text = "Mara Velden saw Mara in Torvik."
    (tokens,) = encoder.tokenize([text])
    found = []
    for first, last, name in names.find(tokens.ids.tolist()):
        start, end = tokens.offsets[first][0], tokens.offsets[last][1]
        found.append((name, text[start:end]))
    assert found == [("Mara Velden", "Mara Velden"), ("Mara", "Mara"), ("Torvik", "Torvik")]
    (longer,) = encoder.tokenize(["Torvikers"])
    assert names.find(longer.ids.tolist()) == []
    assert TokenNames(encoder, []).find(tokens.ids.tolist()) == []


def test_a_recipe_has_it_by_one_setting() -> None:
    recipe = EncoderRecipe.model_validate({"knowledge": {"path": "graph", "layer": "memory"}})
    assert recipe.knowledge is not None
    assert recipe.knowledge.layer == "memory"
