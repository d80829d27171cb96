"""What is kept of where a model came from."""

import hashlib
import json
import os
import platform
from pathlib import Path

import pytest
import torch
from small_relations import changed

from factloom import formats
from factloom.document import Document
from factloom.errors import InputError
from factloom.training.provenance import provenance
from factloom.training.recipe import DictionaryRecipe, Recipe


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


def test_a_dictionary_file_whose_name_is_not_utf8_is_told(recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / os.fsdecode(b"PER\xff.txt")).write_text("Mara")
    marked = DictionaryRecipe(files=[str(tmp_path / "names")])
    with pytest.raises(InputError) as caught:
        provenance(recipe.model_copy(update={"dictionary": marked}))
    assert caught.value.code == "name-not-utf8"


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
