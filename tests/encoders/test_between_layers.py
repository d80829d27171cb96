"""What is put between the layers of encoders of every family."""

from pathlib import Path

import pytest
import torch
from families import FAMILIES, save_family
from torch import Tensor

from factloom.encoders.between_layers import changed_after, layer_count
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError

TEXTS = ["Mara Velden was born in Torvik.", "Torvik."]
SHARED = {"ALBERT"}  # one layer again and again


@pytest.mark.parametrize("family", FAMILIES)
def test_the_next_layer_reads_what_was_changed(family: str, tmp_path: Path) -> None:
    save_family(family, tmp_path)
    encoder = Encoder.load(str(tmp_path), overlap=8).eval()
    windows = encoder.batch([tokens.ids for tokens in encoder.tokenize(TEXTS)])
    seen: list[Tensor] = []

    def same(states: Tensor) -> Tensor:
        seen.append(states)
        return states

    with torch.no_grad():
        plain = encoder.states(windows)
        if family in SHARED:
            with pytest.raises(ModelError, match="no-layers"):
                changed_after(encoder.backbone, 1, same).__enter__()
            return
        with changed_after(encoder.backbone, 2, same):
            assert torch.equal(encoder.states(windows), plain)
        assert seen[0].shape == (*windows.token_ids.shape, encoder.width)
        with changed_after(encoder.backbone, 2, lambda states: states.flip(-1)):
            assert not torch.allclose(encoder.states(windows), plain, atol=1e-3)
        assert torch.equal(encoder.states(windows), plain)  # nothing stays behind


def test_a_layer_that_is_not_there_is_refused(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    count = layer_count(encoder.backbone)
    for number in (0, count + 1):
        with pytest.raises(ModelError, match="no-such-layer"):
            changed_after(encoder.backbone, number, lambda states: states).__enter__()
