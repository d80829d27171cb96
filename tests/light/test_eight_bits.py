"""Weights in 8 bits: how far they may be off, that states stay near, and which are chosen."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.light import eight_bits, loading
from factloom.light.eight_bits import NUMBERS, STEPS, gains, made_of
from factloom.light.export import export
from factloom.light.folder import GRAPHS
from factloom.light.joint import LightJoint
from factloom.models.joint import Joint, JointSettings


@pytest.fixture(scope="module")
def folder(tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model with its graphs."""
    path = tmp_path_factory.mktemp("eight") / "model"
    with torch.random.fork_rng():
        torch.manual_seed(6)
        encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
        settings = JointSettings(block_size=8, hidden=12)
        model = Joint(encoder, ["LOC", "PER"], ["P19", "P27"], settings)
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.15)
    model.save_pretrained(path)
    export(path, path)
    return path


def test_no_weight_is_off_by_more_than_half_a_step_of_its_row() -> None:
    weight = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)
    weight[3] = 0
    numbers, steps = (made_of(f"w{part}", weight) for part in (NUMBERS, STEPS))
    assert (numbers.dtype, numbers.shape, steps.shape) == (np.int8, (7, 5), (5,))
    off = np.abs(numbers.T * steps[:, None] - weight).max(1)
    assert (off <= np.abs(weight).max(1) / 127 / 2 + 1e-7).all()


def states(model: LightJoint, text: str) -> NDArray[Any]:
    extraction = model._extraction
    (tokens,) = extraction.encoder.tokenize([text])
    words = extraction.layout.words(Document(text), tokens)
    batch = extraction.layout.word_batch([words])
    found: NDArray[Any] = extraction.layers.read(batch).known["states"]
    return found


def test_states_in_eight_bits_are_near_to_those_in_float32_and_not_the_same(
    folder: Path, profiles: list[Document]
) -> None:
    plain, rounded = (loading.load(folder, precision=p) for p in ("float32", "8bit"))
    expected, found = (states(model, profiles[0].text) for model in (plain, rounded))
    off = np.abs(found - expected)
    assert off.max() > 0
    assert np.sqrt((off**2).mean()) < 0.05 * np.sqrt((expected**2).mean())


class Sleeps:
    """A graph that takes so many milliseconds."""

    def __init__(self, milliseconds: int, clock: list[float]) -> None:
        self.milliseconds, self.clock = milliseconds, clock

    def run(self, given: Mapping[str, NDArray[Any]], /) -> list[NDArray[Any]]:
        assert set(given) == {"token_ids", "token_types", "shapes"}
        self.clock[0] += self.milliseconds
        return []


@pytest.mark.parametrize(("rounded", "expected"), [(50, True), (99, False), (120, False)])
def test_eight_bits_are_worth_it_where_they_are_clearly_faster(
    monkeypatch: pytest.MonkeyPatch, rounded: int, expected: bool
) -> None:
    clock = [0.0]
    monkeypatch.setattr(eight_bits.time, "perf_counter", lambda: clock[0])
    assert gains(Sleeps(100, clock), Sleeps(rounded, clock)) is expected


@pytest.mark.parametrize("faster", [True, False])
def test_the_fastest_is_what_the_measurement_says(
    folder: Path, profiles: list[Document], monkeypatch: pytest.MonkeyPatch, faster: bool
) -> None:
    monkeypatch.setattr("factloom.light.opened.gains", lambda *_: faster)
    chosen = loading.load(folder, precision="fastest")
    same = loading.load(folder, precision="8bit" if faster else "float32")
    assert (states(chosen, profiles[0].text) == states(same, profiles[0].text)).all()


def test_graphs_of_before_have_no_eight_bits_and_say_so(folder: Path) -> None:
    file = folder / GRAPHS / "windows-8bit.onnx"
    kept = file.read_bytes()
    file.unlink()
    try:
        with pytest.raises(ModelError, match="windows-8bit"):
            loading.load(folder, precision="8bit")
        assert loading.load(folder).relations == ("P19", "P27")
    finally:
        file.write_bytes(kept)
