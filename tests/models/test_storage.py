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
from factloom import model_folders
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


def write(text: str) -> Damage:
    return lambda path: (path / "config.json").write_text(text)


def edit(part: str, value: object) -> Damage:
    """Put a value in place of what is at this path of config.json, such as encoder.window."""

    def change(path: Path) -> None:
        config = json.loads((path / "config.json").read_text())
        *outer, last = part.split(".")
        inner = config
        for name in outer:
            inner = inner.setdefault(name, {})
        inner[last] = value
        (path / "config.json").write_text(json.dumps(config))

    return change


def as_directory(name: str) -> Damage:
    def change(path: Path) -> None:
        (path / name).unlink()
        (path / name).mkdir()

    return change


def as_file(name: str) -> Damage:
    def change(path: Path) -> None:
        shutil.rmtree(path / name)
        (path / name).touch()

    return change


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
        (write('{"model": "atlop", "a": ' + "9" * 5000 + "}"), "model-damaged", "digits"),
        (write("[" * 50_000), "model-damaged", "recursion"),
        (write('{"model": "atlop", "a": ' + "[" * 50_000), "model-damaged", "recursion"),
        (write('{"model": "atlop", "a": NaN}'), "model-damaged", "NaN is no finite number"),
        (write('{"model": "atlop", "a": -1e999}'), "model-damaged", "-1e999 is no finite number"),
        (edit("relations", "P19"), "model-damaged", "relations: Input should be a valid list"),
        (edit("relations", [19, 27]), "model-damaged", "relations.0: Input should be a valid str"),
        (edit("relation_names", ["born"]), "model-damaged", "relation_names: Input should be"),
        (edit("relation_names", {"P19": 7}), "model-damaged", "relation_names.P19"),
        (edit("types", {"PER": 1}), "model-damaged", "types"),
        (edit("settings", []), "model-damaged", "settings"),
        (edit("settings.block_size", "large"), "model-damaged", "block_size"),
        (edit("settings.most_relations", [10**4000]), "model-damaged", "most_relations"),
        (edit("settings.width", 7), "indivisible-width", "7"),
        (edit("settings.width", 8), "model-damaged", "classifier"),
        (edit("provenance", []), "model-damaged", "provenance"),
        (edit("provenance", None), "model-damaged", "provenance"),
        (edit("provenance.languages", "en"), "model-damaged", "provenance.languages"),
        (edit("provenance.recipe", 5), "model-damaged", "provenance.recipe"),
        (edit("provenance.recipe.encoder", "bert"), "model-damaged", "provenance.recipe.encoder"),
        (edit("provenance.recipe.data.join_words", "9"), "model-damaged", "join_words"),
        (edit("encoder", None), "model-damaged", "encoder: a model of this kind has one"),
        (edit("encoder", "bert"), "model-damaged", "encoder"),
        (edit("encoder.window", "512"), "model-damaged", "encoder.window"),
        (edit("encoder.window", -3), "window-too-small", "-3"),
        (edit("encoder.long_documents", "never"), "model-damaged", "'windows', 'error' or 'recurrence'"),
        (edit("base", None), "model-damaged", "base"),
        (edit("base", 7), "model-damaged", "base"),
        (edit("base", "no-such-encoder"), "encoder-not-found", "no-such-encoder"),
        (edit("base", "all-MiniLM-L6-v2"), "model-not-found", "changes.safetensors"),
        (as_directory("config.json"), "model-damaged", "config.json"),
        (as_directory("model.safetensors"), "model-damaged", "model.safetensors"),
        (as_directory("encoder/config.json"), "model-damaged", "encoder"),
        (as_file("encoder"), "model-damaged", "encoder"),
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


def test_a_model_cannot_be_written_where_a_file_is(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "model"):
        with pytest.raises(ModelError, match="cannot be written") as caught:
            factloom.load(saved).save_pretrained(place)
        assert caught.value.code == "model-not-written"
        assert str(place) in str(caught.value)


def test_a_model_is_put_on_the_device_that_is_asked_for(saved: Path) -> None:
    assert storage.load(saved).temperature.device.type == "cpu"
    for device in ("meta", torch.device("meta")):
        model = storage.load(saved, device=device)
        assert {value.device.type for value in model.state_dict().values()} == {"meta"}
        assert Atlop.from_pretrained(saved, device=device).temperature.device.type == "meta"


@pytest.mark.parametrize("device", ["abacus", "cuda:99", ""])
def test_a_device_that_is_not_there_is_told(saved: Path, device: str) -> None:
    with pytest.raises(ModelError, match="'cpu'") as caught:
        storage.load(saved, device=device)
    assert caught.value.code == "no-device"


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
    assert model_folders.load_config("factloom-en-small")[1]["model"] == "joint"
    (tmp_path / "factloom-en-small").rmdir()
    shutil.copytree(saved, tmp_path / "factloom-en-small")
    assert model_folders.load_config("factloom-en-small")[1]["model"] == "atlop"


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
    assert (
        model_folders.model_directory("factloom-en-small")
        == model_folders.SHIPPED / "factloom-en-small"
    )
    assert model_folders.model_directory("all-MiniLM-L6-v2") is None


def test_a_model_that_reads_characters_by_itself_has_no_encoder_to_start_from(
    profiles: list[Document], tmp_path: Path
) -> None:
    settings = SoftLexiconSettings(lexicon="none", width=8)
    SoftLexicon.from_documents(None, profiles[:2], settings).save_pretrained(tmp_path / "model")
    with pytest.raises(ModelError, match="has no encoder to start from"):
        storage.first_encoder(str(tmp_path / "model"))
