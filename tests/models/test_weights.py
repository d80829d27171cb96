"""Weight files: what is shared is kept once, and nothing that does not fit is taken."""

import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import pytest
import torch
from pydantic import BaseModel
from safetensors.torch import load_file, save_file
from torch import nn

import factloom
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.models import storage
from factloom.models.compressed import save_compressed
from factloom.models.tagger import Tagger

Change = Callable[[dict[str, torch.Tensor]], object]


class TinySettings(BaseModel):
    tied: bool = True


class Tiny(nn.Module):
    """Two layers with one matrix, and a bias that is a part of a larger tensor."""

    task = "mentions"
    encoder = None
    encoder_optional = True

    def __init__(self, settings: TinySettings) -> None:
        super().__init__()
        self.settings = settings
        self.provenance: dict[str, Any] = {}
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
        if settings.tied:
            self.second.weight = self.first.weight
        whole = torch.randn(6)
        self.first.bias, self.second.bias = nn.Parameter(whole[:3]), nn.Parameter(whole[3:])

    def config(self) -> dict[str, Any]:
        return {"settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, _: None, config: Mapping[str, Any]) -> Self:
        return cls(TinySettings(**config["settings"]))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Tiny]]:
    """A room with one model."""
    room = types.ModuleType("tiny_room")
    room.__path__ = []
    module = types.ModuleType("tiny_room.tiny")
    monkeypatch.setattr(module, "MODEL", Tiny, raising=False)
    monkeypatch.setattr(module, "SETTINGS", TinySettings, raising=False)
    monkeypatch.setattr(Tiny, "__module__", "tiny_room.tiny")
    monkeypatch.setattr(storage, "_files", lambda: [("tiny", "tiny_room.tiny")])
    sys.modules.update({"tiny_room": room, "tiny_room.tiny": module})
    yield Tiny
    del sys.modules["tiny_room"], sys.modules["tiny_room.tiny"]


def test_weights_that_share_memory_are_kept_once_and_shared_again(
    tiny: type[Tiny], tmp_path: Path
) -> None:
    model = tiny(TinySettings())
    storage.save(model, tmp_path)
    kept = load_file(tmp_path / "model.safetensors")
    assert sorted(kept) == ["first.bias", "first.weight", "second.bias"]
    loaded = storage.load(tmp_path)
    assert loaded.second.weight is loaded.first.weight
    for name, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value), name


def test_what_was_tied_after_the_model_was_made_is_tied_after_loading(
    tiny: type[Tiny], tmp_path: Path
) -> None:
    model = tiny(TinySettings(tied=False))
    assert len(list(model.parameters())) == 4
    model.second.weight = model.first.weight
    storage.save(model, tmp_path)
    loaded = storage.load(tmp_path)
    assert len(list(loaded.parameters())) == 3
    assert torch.equal(loaded.second.weight, model.second.weight)


@pytest.mark.parametrize(
    "ties", ['{"third.weight": "first.weight"}', '{"second.weight": "first.bias"}', "[]", "{", "7"]
)
def test_ties_that_the_model_cannot_have_are_refused(
    tiny: type[Tiny], tmp_path: Path, ties: str
) -> None:
    storage.save(tiny(TinySettings()), tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    save_file(weights, tmp_path / "model.safetensors", {"tied": ties})
    with pytest.raises(ModelError, match=r"model\.safetensors") as caught:
        storage.load(tmp_path)
    assert caught.value.code == "model-damaged"


# --- weights that do not fit -------------------------------------------------------------------


@pytest.fixture(scope="module")
def tagger(tiny_encoder_path: Path) -> Tagger:
    """A model a step away from its encoder."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = Tagger(Encoder.load(str(tiny_encoder_path)), ["LOC", "PER"])
        with torch.no_grad():
            for weights in model.parameters():
                weights.add_(0.01 * torch.randn(weights.shape))
    return model


def put(name: str, value: torch.Tensor) -> Change:
    return lambda weights: weights.update({name: value})


def spoil(name: str, value: float) -> Change:
    def change(weights: dict[str, torch.Tensor]) -> None:
        weights[name].view(-1)[1] = value

    return change


def check_told(path: Path, file: str, change: Change, name: str, said: str) -> None:
    weights = load_file(path / file)
    change(weights)
    save_file(weights, path / file)
    with pytest.raises(ModelError) as caught:
        factloom.load(path)
    assert caught.value.code == "model-damaged"
    for part in (str(path / file), name, said):
        assert part in str(caught.value)


MATRIX, VECTOR = "classifier.weight", "classifier.bias"  # (9, 32), (9,)
DEEP = "encoder.backbone.encoder.layer.0.attention.output.dense.weight"


@pytest.mark.parametrize(
    ("change", "name", "said"),
    [
        (put(MATRIX, torch.zeros(1, 32)), MATRIX, "its shape is [1, 32], and should be [9, 32]"),
        (put(VECTOR, torch.zeros(1)), VECTOR, "its shape is [1], and should be [9]"),
        (put("temperature", torch.ones(1)), "temperature", "its shape is [1]"),
        (put(VECTOR, torch.zeros(9, dtype=torch.int64)), VECTOR, "torch.int64"),
        (spoil(MATRIX, torch.nan), MATRIX, "nan or infinity"),
        (spoil(DEEP, torch.inf), DEEP, "nan or infinity"),
        (lambda weights: weights.pop(VECTOR), VECTOR, "it is missing"),
        (put("more.weight", torch.zeros(2)), "more.weight", "no such weights"),
    ],
)
def test_weights_that_do_not_fit_are_told_by_name(
    tagger: Tagger, tmp_path: Path, change: Change, name: str, said: str
) -> None:
    tagger.save_pretrained(tmp_path)
    check_told(tmp_path, "model.safetensors", change, name, said)


@pytest.mark.parametrize(
    ("change", "name", "said"),
    [
        (put(MATRIX, torch.ones(1, 32, dtype=torch.int8)), MATRIX, "scales"),
        (put(MATRIX, torch.ones(9, 32)), MATRIX, "float32, and should hold int8"),
        (put(MATRIX, torch.ones(9, dtype=torch.int8)), f"{MATRIX}:scale", "no such weights"),
        (put(f"{MATRIX}:scale", torch.ones(1)), f"{MATRIX}:scale", "no row of 9 scales"),
        (put(f"{MATRIX}:scale", torch.ones(9).int()), f"{MATRIX}:scale", "no row of 9 scales"),
        (spoil(f"{MATRIX}:scale", torch.nan), f"{MATRIX}:scale", "nan or infinity"),
        (spoil(f"{DEEP}:scale", torch.inf), f"{DEEP}:scale", "nan or infinity"),
        (lambda weights: weights.pop(f"{DEEP}:scale"), f"{DEEP}:scale", "it is missing"),
        (lambda weights: weights.pop(MATRIX), MATRIX, "it is missing"),
        (put(VECTOR, torch.zeros(1)), VECTOR, "its shape is [1], and should be [9]"),
        (put("temperature", torch.ones((), dtype=torch.int8)), "temperature", "torch.int8"),
        (put("encoder.more", torch.zeros(2)), "encoder.more", "no such weights"),
    ],
)
def test_changes_that_do_not_fit_are_told_by_name(
    tagger: Tagger,
    tiny_encoder_path: Path,
    tmp_path: Path,
    change: Change,
    name: str,
    said: str,
) -> None:
    save_compressed(tagger, tmp_path, str(tiny_encoder_path))
    check_told(tmp_path, "changes.safetensors", change, name, said)


def test_one_row_of_a_classifier_is_not_taken_for_all(
    tagger: Tagger, tiny_encoder_path: Path, tmp_path: Path
) -> None:
    def one_row(weights: dict[str, torch.Tensor]) -> None:
        weights[MATRIX] = weights[MATRIX][:1].clone()
        weights[f"{MATRIX}:scale"] = weights[f"{MATRIX}:scale"][:1].clone()

    save_compressed(tagger, tmp_path, str(tiny_encoder_path))
    check_told(tmp_path, "changes.safetensors", one_row, MATRIX, "its shape is [1, 32]")
