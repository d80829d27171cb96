"""An encoder that is told who sees whom, and where: the families that can be pretrained."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from families import FAMILIES, save_family
from transformers import AutoModelForMaskedLM

from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.modules.windows import WindowBatch
from factloom.objectives.network import Network

TOLD = ("BERT", "RoBERTa", "ALBERT", "ELECTRA", "MPNet")
IDS = np.arange(8, 20)


def load(name: str, path: Path) -> tuple[Encoder, WindowBatch]:
    save_family(name, path)
    encoder = Encoder.load(str(path), overlap=0).eval()
    return encoder, encoder.batch([IDS])


@pytest.mark.parametrize("name", TOLD)
@torch.no_grad()
def test_positions_in_order_are_those_of_the_family(name: str, tmp_path: Path) -> None:
    encoder, windows = load(name, tmp_path)
    told = dataclasses.replace(windows, positions=torch.arange(windows.length)[None])
    torch.testing.assert_close(encoder.states(told), encoder.states(windows))


@pytest.mark.parametrize("name", TOLD)
@torch.no_grad()
def test_a_token_that_is_not_seen_changes_nothing(name: str, tmp_path: Path) -> None:
    encoder, windows = load(name, tmp_path)
    length = windows.length
    visible = torch.ones(1, length, length, dtype=torch.bool).tril()
    told = dataclasses.replace(windows, visible=visible)
    changed = told.token_ids.clone()
    changed[0, 6] = 30
    before, after = (
        encoder.states(dataclasses.replace(told, token_ids=ids))
        for ids in (told.token_ids, changed)
    )
    assert torch.equal(before[0, :6], after[0, :6])
    assert not torch.allclose(before[0, 6:], after[0, 6:])


@pytest.mark.parametrize("name", TOLD)
@torch.no_grad()
def test_the_head_is_that_of_hugging_face_and_is_kept(name: str, tmp_path: Path) -> None:
    _, windows = load(name, tmp_path / "encoder")
    fresh = Network.load(str(tmp_path / "encoder"), overlap=0)
    assert fresh.head_is_new
    with pytest.raises(ModelError) as caught:
        fresh.require_head("it")
    assert caught.value.code == "head-not-trained"
    torch.nn.init.normal_(fresh.head.bias)
    torch.nn.init.normal_(fresh.head.norm.bias)
    fresh.eval().save(tmp_path / "saved")
    theirs = AutoModelForMaskedLM.from_pretrained(tmp_path / "saved").eval()
    again = Network.load(str(tmp_path / "saved"), overlap=0).eval()
    assert not again.head_is_new
    expected = theirs(input_ids=windows.token_ids, attention_mask=windows.mask).logits[0]
    for network in (fresh, again):
        torch.testing.assert_close(network.logits(network.states(windows)), expected)


@pytest.mark.parametrize("name", sorted(FAMILIES.keys() - set(TOLD)))
def test_other_families_are_told_that_they_cannot(name: str, tmp_path: Path) -> None:
    encoder, _ = load(name, tmp_path)
    with pytest.raises(ModelError) as caught:
        Network(encoder)
    assert caught.value.code == "no-token-head"
    assert "roberta" in str(caught.value)
