"""Model directories: what is in them, and a clear error for everything that is not a whole one."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import factloom
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.encoders.new_characters import add_characters
from factloom.errors import ModelError
from factloom.models import storage
from factloom.models.atlop import Atlop, AtlopSettings
from factloom.models.soft_lexicon import SoftLexicon, SoftLexiconSettings

Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def saved(tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    encoder = Encoder.load(str(tiny_encoder_path), window=100, overlap=10, long_documents="error")
    model = Atlop(encoder, ["P19", "P27"], AtlopSettings(block_size=8))
    path = tmp_path_factory.mktemp("models") / "atlop"
    model.save_pretrained(path)
    return path


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    """A directory to damage."""
    return shutil.copytree(saved, tmp_path / "model")


def configure(**changes: object) -> Damage:
    """Change settings in config.json; None takes one out."""

    def change(path: Path) -> None:
        config = json.loads((path / "config.json").read_text())
        config = {k: v for k, v in {**config, **changes}.items() if v is not None}
        (path / "config.json").write_text(json.dumps(config))

    return change


def other_weights(path: Path) -> None:
    weights = load_file(path / "model.safetensors")
    weights["classifier.bias"] = torch.zeros(7)
    save_file(weights, path / "model.safetensors")


def cut(name: str) -> Damage:
    return lambda path: (path / name).write_bytes((path / name).read_bytes()[:-20])


def remove(name: str) -> Damage:
    return lambda path: (path / name).unlink()


def test_a_directory_holds_json_and_safetensors_and_nothing_else(saved: Path) -> None:
    files = {str(path.relative_to(saved)) for path in saved.rglob("*") if path.is_file()}
    assert {"config.json", "model.safetensors", "encoder/tokenizer.json"} <= files
    assert {Path(name).suffix for name in files} == {".json", ".safetensors"}


def test_the_configuration_can_be_read_by_people(saved: Path) -> None:
    config = json.loads((saved / "config.json").read_text())
    assert config["model"] == "atlop"
    assert config["relations"] == ["P19", "P27"]
    assert config["settings"]["block_size"] == 8
    assert config["factloom"] == factloom.__version__


def test_loading_keeps_how_long_documents_are_taken(saved: Path) -> None:
    encoder = storage.load(saved).encoder
    assert (encoder.window, encoder.overlap, encoder.long_documents) == (100, 10, "error")


@pytest.mark.parametrize(
    ("damage", "code", "said"),
    [
        (remove("config.json"), "model-not-found", "config.json"),
        (cut("config.json"), "model-damaged", "config.json"),
        (lambda p: (p / "config.json").write_bytes(b"\xff"), "model-damaged", "utf-8"),
        (lambda p: (p / "config.json").write_text("[]"), "not-a-factloom-model", "config.json"),
        (configure(model=None), "not-a-factloom-model", "config.json"),
        (configure(model=3), "not-a-factloom-model", "config.json"),
        (configure(model="abacus"), "unknown-model", "abacus"),
        (configure(model="storage"), "unknown-model", "storage"),
        (configure(model="../atlop"), "unknown-model", "../atlop"),
        (configure(relations=None), "model-damaged", "relations"),
        (configure(settings={"block_sise": 8}), "model-damaged", "block_sise"),
        (configure(encoder=None), "model-damaged", "encoder"),
        (configure(encoder={"windows": 3}), "model-damaged", "windows"),
        (configure(relations=["P19"]), "model-damaged", "classifier.bias"),
        (remove("model.safetensors"), "model-not-found", "model.safetensors"),
        (cut("model.safetensors"), "model-damaged", "model.safetensors"),
        (other_weights, "model-damaged", "classifier.bias"),
        (lambda path: shutil.rmtree(path / "encoder"), "model-damaged", "encoder"),
        (cut("encoder/config.json"), "model-damaged", "encoder/config.json"),
        (cut("encoder/tokenizer.json"), "model-damaged", "model"),
    ],
)
def test_a_damaged_directory_is_told(copy: Path, damage: Damage, code: str, said: str) -> None:
    damage(copy)
    with pytest.raises(ModelError) as caught:
        factloom.load(copy)
    assert caught.value.code == code
    assert said in str(caught.value)


def test_pickled_weights_are_not_looked_at(copy: Path) -> None:
    torch.save(load_file(copy / "model.safetensors"), copy / "pytorch_model.bin")
    (copy / "model.safetensors").unlink()
    with pytest.raises(ModelError) as caught:
        factloom.load(copy)
    assert caught.value.code == "model-not-found"
    assert "model.safetensors" in str(caught.value)


def test_a_model_of_another_kind_is_refused_by_the_class(copy: Path) -> None:
    configure(model="tagger")(copy)
    with pytest.raises(ModelError, match="'tagger', not 'atlop'") as caught:
        Atlop.from_pretrained(copy)
    assert caught.value.code == "other-model"


@pytest.mark.parametrize(
    "name", ["nobody/no-such-model", "no-such-directory", "./a/b", "/no/such", "a b/c", ""]
)
def test_a_name_that_leads_nowhere_is_told_offline(name: str) -> None:
    with pytest.raises(ModelError) as caught:
        factloom.load(name)
    assert caught.value.code == "model-not-found"
    assert name in str(caught.value)
    assert "factloom train" in str(caught.value)


def test_a_hub_name_is_found_in_the_cache(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    repository = tmp_path / "models--somebody--atlop"
    shutil.copytree(saved, repository / "snapshots" / "abc")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    assert factloom.load("somebody/atlop").model.relations == ("P19", "P27")


def test_pushing_uploads_the_saved_directory(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, Any]] = []

    class Hub:
        def create_repo(self, name: str, **options: object) -> None:
            calls.append((name, options))

        def upload_folder(self, repo_id: str, folder_path: str) -> str:
            calls.append((repo_id, sorted(path.name for path in Path(folder_path).iterdir())))
            return f"https://hub/{repo_id}"

    monkeypatch.setattr("huggingface_hub.HfApi", Hub)
    address = factloom.load(saved).push_to_hub("me/atlop", private=True)
    assert address == "https://hub/me/atlop"
    assert calls == [
        ("me/atlop", {"exist_ok": True, "private": True}),
        ("me/atlop", ["config.json", "encoder", "model.safetensors"]),
    ]


def test_a_folder_that_is_no_model_does_not_hide_the_one_that_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "factloom-en-small").mkdir()
    assert storage.load_config("factloom-en-small")[1]["model"] == "joint"
    (tmp_path / "factloom-en-small").rmdir()
    shutil.copytree(saved, tmp_path / "factloom-en-small")
    assert storage.load_config("factloom-en-small")[1]["model"] == "atlop"


# --- the encoder that a training starts from ---------------------------------------------------


def test_a_training_may_start_from_the_encoder_of_a_trained_model(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    add_characters(encoder, ["甲乙甲乙"])
    model = Atlop(encoder, ["P19"], AtlopSettings(block_size=8))
    with torch.no_grad():
        for weights in encoder.parameters():
            weights.add_(0.5)
    model.save_pretrained(tmp_path / "trained")

    found = storage.first_encoder(str(tmp_path / "trained"), window=90, overlap=10)
    assert (found.window, found.overlap) == (90, 10)
    assert found.tokenizer.get_vocab() == encoder.tokenizer.get_vocab()
    expected = encoder.state_dict()
    assert found.state_dict().keys() == expected.keys()
    for name, weights in found.state_dict().items():
        assert torch.equal(weights, expected[name]), name
    plain = storage.first_encoder(str(tiny_encoder_path), overlap=16).state_dict()
    assert not any(torch.equal(expected[name], plain[name]) for name in plain if "bias" in name)


def test_a_shipped_model_is_known_as_one_by_name() -> None:
    assert storage.model_directory("factloom-en-small") == storage.SHIPPED / "factloom-en-small"
    assert storage.model_directory("all-MiniLM-L6-v2") is None


def test_a_model_that_reads_characters_by_itself_has_no_encoder_to_start_from(
    profiles: list[Document], tmp_path: Path
) -> None:
    settings = SoftLexiconSettings(lexicon="none", width=8)
    SoftLexicon.from_documents(None, profiles[:2], settings).save_pretrained(tmp_path / "model")
    with pytest.raises(ModelError, match="has no encoder to start from"):
        storage.first_encoder(str(tmp_path / "model"))
