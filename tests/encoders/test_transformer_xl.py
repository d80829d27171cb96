"""Transformer-XL: memory is what was read, without gradient; folders are those of any encoder."""

from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from factloom.encoders.encoder import Encoder
from factloom.encoders.transformer_xl import Memory, TransformerXLConfig, TransformerXLModel


@pytest.fixture
def model() -> TransformerXLModel:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = TransformerXLConfig(
            vocab_size=50, hidden_size=16, num_hidden_layers=3, intermediate_size=32
        )
        model = TransformerXLModel(config).eval()
        for weights in model.parameters():
            if weights.dim() > 1:
                torch.nn.init.normal_(weights, std=0.3)
    return model


def in_segments(
    model: TransformerXLModel, ids: torch.Tensor, length: int, memory: int
) -> torch.Tensor:
    remembered, found = model.nothing(len(ids)), []
    for segment in ids.split(length, dim=1):
        states, inputs, _ = model.read(segment, remembered)
        remembered = remembered.followed_by(inputs, memory)
        found.append(states)
    return torch.cat(found, dim=1)


@pytest.mark.parametrize("length", [1, 4, 7, 30])
@torch.no_grad()
def test_segments_with_enough_memory_are_as_one_text(
    length: int, model: TransformerXLModel
) -> None:
    ids = torch.randint(50, (2, 30))
    whole, _, _ = model.read(ids, model.nothing(2))
    assert torch.allclose(in_segments(model, ids, length, 30), whole, atol=1e-5)


@torch.no_grad()
def test_a_longer_memory_sees_further(model: TransformerXLModel) -> None:
    """One layer more reaches one memory further, and no token more."""
    ids = torch.randint(50, (1, 40))
    other = ids.clone()
    for place in range(40):
        other[0, place] = (ids[0, place] + 1) % 50
        for memory in (0, 4, 8):
            one, changed = (in_segments(model, text, 4, memory)[0, -1] for text in (ids, other))
            # each of three layers looks back by the memory, from the segment's first token
            reach = 36 - 3 * memory
            assert torch.equal(one, changed) == (place < reach), (place, memory)
        other[0, place] = ids[0, place]


def test_no_gradient_goes_into_the_memory(model: TransformerXLModel) -> None:
    ids = torch.randint(50, (1, 8))
    _, inputs, _ = model.read(ids, model.nothing(1))
    memory = model.nothing(1).followed_by(inputs, 8)
    assert not memory.states.requires_grad
    states, _, _ = model.read(torch.randint(50, (1, 4)), memory)
    states.sum().backward()
    assert all(weights.grad is not None for weights in model.parameters())


@torch.no_grad()
def test_rows_remember_as_much_as_they_have_read(model: TransformerXLModel) -> None:
    first, second = torch.randint(50, (1, 6)), torch.randint(50, (2, 5))
    _, inputs, _ = model.read(first, model.nothing(1))
    own = model.nothing(1).followed_by(inputs, 6)
    nothing = torch.zeros_like(own.states) + 9.0
    both = Memory(torch.cat([own.states, nothing], dim=1), torch.tensor([6, 0]))
    together, _, _ = model.read(second, both)
    alone, _, _ = model.read(second[:1], own)
    anew, _, _ = model.read(second[1:], model.nothing(1))
    assert torch.allclose(together, torch.cat([alone, anew]), atol=1e-6)


def test_memory_is_never_longer_than_it_may_be(model: TransformerXLModel) -> None:
    memory = model.nothing(2)
    for length, expected in ((3, 3), (3, 5), (1, 5)):
        memory = memory.followed_by(torch.ones(3, 2, length, 16), 5)
        assert memory.states.shape[2] == expected
        assert memory.lengths.tolist() == [expected] * 2


@torch.no_grad()
def test_it_is_an_encoder_as_any_other(tiny_encoder_path: Path, tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder_path)
    config = TransformerXLConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, intermediate_size=32
    )
    encoder = Encoder.from_config(config, tokenizer, window=16, overlap=2).eval()
    assert isinstance(encoder.backbone, TransformerXLModel)
    encoder.backbone.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    again = Encoder.load(str(tmp_path), window=16, overlap=2).eval()
    texts = ["She was born in Torvik.", "one", "She studied at Halden College in Torvik. " * 3]
    batch = encoder.batch([tokens.ids for tokens in encoder.tokenize(texts)])
    assert torch.equal(encoder.states(batch), again.states(batch))
    for number, tokens in enumerate(encoder.tokenize(texts)):
        alone = encoder.states(encoder.batch([tokens.ids]))[0]
        assert torch.allclose(encoder.states(batch)[number, : len(alone)], alone, atol=1e-5)
    rows = encoder.read(batch).attention(batch)
    assert rows.shape[-1] == encoder.states(batch).shape[1]
