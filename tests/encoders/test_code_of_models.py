"""A model may bring Python code, and transformers would run it: it is refused, whoever says yes."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import factloom
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.models.compressed import save_compressed
from factloom.models.storage import first_encoder
from factloom.models.tagger import Tagger

CODE = """
from pathlib import Path
from transformers import BertConfig, BertModel, BertTokenizerFast

Path({mark!r}).touch()

class OwnConfig(BertConfig):
    model_type = "own"

class OwnModel(BertModel):
    config_class = OwnConfig

class OwnTokenizer(BertTokenizerFast):
    pass
"""
OWN_MODEL = {"AutoConfig": "code.OwnConfig", "AutoModel": "code.OwnModel"}
OWN_TOKENIZER = {"AutoTokenizer": [None, "code.OwnTokenizer"]}


@pytest.fixture(autouse=True)
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the code would leave behind. Whoever is asked says yes, as a piped text may."""
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "run"))
    return tmp_path / "mark"


@pytest.fixture
def encoder_path(tiny_encoder_path: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_encoder_path, tmp_path / "encoder")


def bring_code(directory: Path, file: str, mark: Path, **changes: Any) -> None:
    (directory / "code.py").write_text(CODE.format(mark=str(mark)))
    content = json.loads((directory / file).read_text())
    (directory / file).write_text(json.dumps({**content, **changes}))


def check_refused(load: Any, name: str, mark: Path) -> None:
    with pytest.raises(ModelError) as caught:
        load(name)
    assert caught.value.code == "model-with-code"
    assert "never run" in str(caught.value)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("config.json", {"auto_map": OWN_MODEL, "model_type": "own"}),
        ("config.json", {"auto_map": OWN_MODEL}),
        ("config.json", {"auto_map": OWN_TOKENIZER}),
        ("tokenizer_config.json", {"auto_map": OWN_TOKENIZER}),
        ("tokenizer_config.json", {"auto_map": OWN_TOKENIZER, "tokenizer_class": "OwnTokenizer"}),
    ],
)
@pytest.mark.parametrize("load", [Encoder.load, first_encoder])
def test_an_encoder_with_code_is_refused(
    encoder_path: Path, mark: Path, file: str, changes: dict[str, Any], load: Any
) -> None:
    bring_code(encoder_path, file, mark, **changes)
    check_refused(load, str(encoder_path), mark)


def test_an_encoder_with_code_on_the_hub_is_refused(
    encoder_path: Path, mark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_code(encoder_path, "config.json", mark, auto_map=OWN_MODEL, model_type="own")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    repository = tmp_path / "cache" / "models--somebody--own"
    shutil.copytree(encoder_path, repository / "snapshots" / "abc")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    check_refused(Encoder.load, "somebody/own", mark)


def test_a_model_whose_encoder_has_code_is_refused(
    encoder_path: Path, mark: Path, tmp_path: Path
) -> None:
    Tagger(Encoder.load(str(encoder_path)), ["PER"]).save_pretrained(tmp_path / "model")
    bring_code(tmp_path / "model" / "encoder", "config.json", mark, auto_map=OWN_MODEL)
    check_refused(factloom.load, str(tmp_path / "model"), mark)


def test_a_compressed_model_whose_base_has_code_is_refused(
    encoder_path: Path, mark: Path, tmp_path: Path
) -> None:
    tagger = Tagger(Encoder.load(str(encoder_path)), ["PER"])
    save_compressed(tagger, tmp_path / "model", str(encoder_path))
    bring_code(encoder_path, "config.json", mark, auto_map=OWN_MODEL, model_type="own")
    check_refused(factloom.load, str(tmp_path / "model"), mark)


def test_code_that_nobody_asks_for_does_no_harm(encoder_path: Path, mark: Path) -> None:
    bring_code(encoder_path, "config.json", mark)
    assert Encoder.load(str(encoder_path)).width == 32
    assert not mark.exists()
