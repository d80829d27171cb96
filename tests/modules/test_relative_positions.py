"""Relative attention against its formula, pair by pair; as a network of BERT's family."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoTokenizer

from factloom.encoders.encoder import Encoder
from factloom.encoders.new_encoder import new_encoder
from factloom.errors import ModelError
from factloom.modules.relative_positions import RelativePositions
from factloom.objectives.network import Network

WIDTH = 8


def vector(distance: int) -> Tensor:
    """a_ij of the paper: sines at even places, cosines at odd ones."""
    angles = [distance / 10000 ** (2 * (k // 2) / WIDTH) for k in range(WIDTH)]
    return torch.tensor([math.cos(a) if k % 2 else math.sin(a) for k, a in enumerate(angles)])


def naive(query: Tensor, key: Tensor, value: Tensor, positions: list[int], limit: int) -> Tensor:
    """(length, d) of one head, a pair at a time."""
    length = len(query)
    vectors = [
        [vector(max(-limit, min(limit, positions[j] - positions[i]))) for j in range(length)]
        for i in range(length)
    ]
    rows = []
    for i in range(length):
        scores = [query[i] @ (key[j] + vectors[i][j]) / math.sqrt(WIDTH) for j in range(length)]
        weights = torch.stack(scores).softmax(-1)
        rows.append(sum(weights[j] * (value[j] + vectors[i][j]) for j in range(length)))
    return torch.stack(rows)


@pytest.mark.parametrize("positions", [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 1, 2]])
def test_it_is_the_formula(positions: list[int]) -> None:
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 2, 6, WIDTH)  # (windows, heads, length, d) each
    relative = RelativePositions(torch.tensor([positions] * 2), WIDTH, limit=3)
    scores = (query @ key.transpose(2, 3) + relative.scores(query)) / math.sqrt(WIDTH)
    weights = scores.softmax(-1)
    found = weights @ value + relative.values(weights)
    for window in range(2):
        for head in range(2):
            at = window, head
            expected = naive(query[at], key[at], value[at], positions, limit=3)
            torch.testing.assert_close(found[at], expected)


@pytest.fixture
def encoder(tiny_encoder_path: Path) -> Encoder:
    torch.manual_seed(0)
    sizes = {"layers": 2, "width": 32, "heads": 4, "relative_positions": 5, "positions": 64}
    found = new_encoder(str(tiny_encoder_path), **sizes, window=64, overlap=0).eval()
    for weights in found.parameters():
        if weights.dim() > 1 and weights.requires_grad:
            torch.nn.init.normal_(weights, std=0.2)
    return found


@torch.no_grad()
def test_the_network_knows_distances_and_no_places(encoder: Encoder) -> None:
    windows = encoder.batch([np.arange(10, 40)])
    states = encoder.states(windows)
    positions = torch.arange(windows.length)[None]
    moved = dataclasses.replace(windows, positions=positions + 7)
    torch.testing.assert_close(encoder.states(moved), states)
    turned = dataclasses.replace(windows, positions=positions.flip(1))
    assert not torch.allclose(encoder.states(turned), states, atol=1e-3)


@torch.no_grad()
def test_the_attention_that_models_read_is_that_of_the_network(encoder: Encoder) -> None:
    ids = np.arange(10, 30)
    encoded = encoder(encoder.batch([ids], [np.array([2, 7])]))
    whole = encoder.batch([ids])
    with torch.no_grad():
        layer = encoder.backbone.encoder.layer[-1].attention.self
        kept: list[Tensor] = []
        handle = layer.register_forward_pre_hook(lambda _, given: kept.append(given[0]))
        encoder.states(whole)
        handle.remove()
    states = kept[0]
    query, key = (
        part(states).view(1, -1, 4, WIDTH).transpose(1, 2) for part in (layer.query, layer.key)
    )
    relative = RelativePositions(torch.arange(states.shape[1]), WIDTH, 5)
    scores = (query @ key.transpose(2, 3) + relative.scores(query)) / math.sqrt(WIDTH)
    torch.testing.assert_close(encoded.attention, scores.softmax(-1)[0, :, [3, 8]].transpose(0, 1))


def test_it_is_kept_as_a_folder_that_is_read_again(encoder: Encoder, tmp_path: Path) -> None:
    network = Network(encoder).eval()
    network.save(tmp_path)
    again = Network.load(str(tmp_path), overlap=0).eval()
    windows = encoder.batch([np.arange(10, 30)])
    torch.testing.assert_close(again.states(windows), network.states(windows))
    table = again.encoder.backbone.embeddings.position_embeddings.weight
    assert not table.requires_grad
    assert not table.any()


@pytest.mark.parametrize("shared", [True, False])
def test_layers_may_be_shared_and_embeddings_small(shared: bool, tiny_encoder_path: Path) -> None:
    sizes = {"layers": 3, "width": 32, "heads": 4, "embedding_width": 8}
    encoder = new_encoder(str(tiny_encoder_path), **sizes, shared_layers=shared, overlap=0)
    assert (encoder.width, encoder.embedding_width) == (32, 8)
    groups = encoder.backbone.encoder.albert_layer_groups
    assert len(groups) == (1 if shared else 3)
    assert encoder.tokenizer.get_vocab() == AutoTokenizer.from_pretrained(tiny_encoder_path).vocab


def test_a_width_that_heads_cannot_share_is_told(tiny_encoder_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        new_encoder(str(tiny_encoder_path), layers=1, width=30, heads=4)
    assert caught.value.code == "heads-do-not-fit"
