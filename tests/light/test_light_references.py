"""Pronouns and nominals without torch: the same as with it."""

import json
from pathlib import Path

import pytest
import torch
from test_light_joint import require_same

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.light import loading
from factloom.light.export import export
from factloom.light.folder import DESCRIPTION, GRAPHS
from factloom.light.joint import LightJoint
from factloom.models.compressed import save_whole
from factloom.models.joint import Joint, JointSettings
from factloom.text.references import has_references
from referring_documents import learned, referring_documents


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> list[Document]:
    return referring_documents(tmp_path_factory.mktemp("letters"))


@pytest.fixture(scope="module")
def model(tiny_encoder_path: Path, letters: list[Document]) -> Joint:
    settings = JointSettings(block_size=8, hidden=12, dropout=0.0, stretch=200)
    with torch.random.fork_rng():
        torch.manual_seed(6)
        encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
        return learned(Joint.from_documents(encoder, letters, settings), letters)


@pytest.fixture(scope="module")
def folder(model: Joint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    stored, exported = (tmp_path_factory.mktemp("light") / name for name in ("stored", "exported"))
    model.save_pretrained(stored)
    export(stored, exported)
    return exported


@pytest.fixture(scope="module")
def light(folder: Path) -> LightJoint:
    return loading.load(folder)


def test_references_are_those_of_torch(
    model: Joint, light: LightJoint, letters: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factloom.light.joint._LINKS", 7)  # pairs of them that are scored at once
    long = " ".join(letter.text for letter in letters * 4)
    given = [Document(text) for text in (*(letter.text for letter in letters), long, "", "He.")]
    expected = model.predict(given)
    assert len(model.encoder.tokenize([long])[0].ids) > model.settings.stretch
    assert sum(m.kind != "name" for document in expected for m in document.mentions) > 10
    found = light.predict(given)
    require_same(found, expected)
    for one, other in zip(found, expected, strict=True):
        assert [m.kind for m in one.mentions] == [m.kind for m in other.mentions]


def test_given_entities_are_related_with_their_references_as_with_torch(
    model: Joint, light: LightJoint, letters: list[Document]
) -> None:
    asked = [letter.named().replace(relations=(), denied=()) for letter in letters]
    expected = model.relate(asked)
    require_same(light.relate(asked), expected)
    assert not any(map(has_references, expected))
    assert any(map(has_references, light._extraction.refer(asked, 4096)))


def test_a_compressed_model_keeps_the_part(
    model: Joint, tmp_path: Path, letters: list[Document]
) -> None:
    save_whole(model, tmp_path)
    export(tmp_path, tmp_path)
    expected = Joint.from_pretrained(tmp_path).predict(letters)
    assert any(map(has_references, expected))
    require_same(loading.load(tmp_path).predict(letters), expected)


def test_graphs_without_the_part_that_the_model_has_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    for file in (path for path in folder.rglob("*") if path.is_file()):
        target = tmp_path / file.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    description = json.loads((tmp_path / GRAPHS / DESCRIPTION).read_text())
    assert description["weights"].pop("references")
    (tmp_path / GRAPHS / DESCRIPTION).write_text(json.dumps(description))
    with pytest.raises(ModelError, match="references"):
        loading.load(tmp_path)
