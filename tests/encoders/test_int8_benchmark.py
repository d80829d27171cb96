"""benchmarks/int8_encoder.py: close to the float32 encoder, and usable wherever that is."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from families import FAMILIES, save_family
from torch import Tensor

from factloom.encoders.encoder import Encoded, Encoder

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

TEXTS = ["Mara Velden was born in Torvik.", "She founded Quillmark Ltd in 1956. " * 12]


@pytest.fixture(scope="module")
def int8() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
        yield importlib.import_module("int8_encoder")


@pytest.fixture(scope="module")
def both(tiny_encoder_path: Path, int8: ModuleType) -> tuple[Encoder, Encoder]:
    """The same encoder in float32 and in int8; windows shorter than the second text."""
    plain, rounded = (
        Encoder.load(str(tiny_encoder_path), window=48, overlap=8).eval() for _ in range(2)
    )
    int8.to_int8(rounded)
    return plain, rounded


@torch.inference_mode()
def encoded(encoder: Encoder) -> Encoded:
    ids = [tokens.ids for tokens in encoder.tokenize(TEXTS)]
    return encoder(encoder.batch(ids, [np.array([0, 2]), np.array([1, 60])]))


def likeness(ours: Tensor, theirs: Tensor) -> float:
    """The least cosine of any two vectors."""
    return float(torch.cosine_similarity(ours, theirs, dim=-1).min())


def test_states_are_rounded_but_close(both: tuple[Encoder, Encoder]) -> None:
    plain, rounded = (encoded(encoder).states for encoder in both)
    inside = plain.abs().sum(-1) > 0
    assert not torch.allclose(plain[inside], rounded[inside], atol=1e-5)
    assert likeness(plain[inside], rounded[inside]) > 0.99


def test_attention_rows_are_made_of_its_queries_and_keys(both: tuple[Encoder, Encoder]) -> None:
    plain, rounded = (encoded(encoder).attention for encoder in both)
    assert torch.allclose(rounded.sum(-1), torch.ones(rounded.shape[:2]), atol=1e-5)
    assert likeness(plain, rounded) > 0.99
    assert torch.equal(plain == 0, rounded == 0), "padding and far windows get no attention"


@torch.inference_mode()
def test_what_is_added_to_the_word_embeddings_is_read(both: tuple[Encoder, Encoder]) -> None:
    found = []
    for encoder in both:
        windows = encoder.batch([encoder.tokenize(TEXTS[:1])[0].ids])
        generator = torch.Generator().manual_seed(0)
        added = torch.randn(*windows.token_ids.shape, encoder.embedding_width, generator=generator)
        found.append((encoder.states(windows, added), encoder.states(windows)))
    (plain, _), (rounded, without) = found
    assert likeness(plain, rounded) > 0.99
    assert likeness(rounded, without) < 0.95


def test_it_can_be_neither_saved_nor_trained(
    both: tuple[Encoder, Encoder], int8: ModuleType
) -> None:
    with pytest.raises(int8.NoInt8Error, match="cannot be saved"):
        both[1].state_dict()


# positions counted by token ids, small embeddings, local layers, no record of attention
@pytest.mark.parametrize("name", ["RoBERTa", "ALBERT", "ModernBERT", "MPNet"])
def test_families_are_rounded_or_refused(name: str, tmp_path: Path, int8: ModuleType) -> None:
    save_family(name, tmp_path)
    plain, rounded = (Encoder.load(str(tmp_path), overlap=8).eval() for _ in range(2))
    # the last layer of this ModernBERT sees its neighbours alone, which the padding does not say
    if name == "ModernBERT" or not FAMILIES[name].records_attention:
        with pytest.raises(int8.NoInt8Error, match=rounded.backbone.config.model_type):
            int8.to_int8(rounded)
        assert isinstance(rounded.backbone, type(plain.backbone)), "it stays usable"
        return
    int8.to_int8(rounded)
    ours, theirs = (encoded(encoder).states[0, :6] for encoder in (plain, rounded))
    assert likeness(ours, theirs) > 0.9


def test_missing_libraries_are_named(
    tiny_encoder_path: Path, int8: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Encoder.load(str(tiny_encoder_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(int8.NoInt8Error, match="pip install onnx onnxruntime"):
        int8.to_int8(encoder)
