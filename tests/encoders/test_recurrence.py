"""The policy `recurrence`: windows in their order, each remembers those in front."""

from pathlib import Path

import numpy as np
import pytest
import torch
from families import save_family
from torch import Tensor
from transformers import AutoTokenizer, XLNetModel

from factloom.encoders.encoder import Encoder
from factloom.encoders.transformer_xl import TransformerXLConfig, TransformerXLModel
from factloom.errors import ModelError

WINDOW = 12
LENGTHS = (27, 4, 40)  # three windows, one, and four


@pytest.fixture(params=["Transformer-XL", "XLNet"])
def encoder(request: pytest.FixtureRequest, tiny_encoder_path: Path, tmp_path: Path) -> Encoder:
    options = {"window": WINDOW, "overlap": 0, "long_documents": "recurrence"}
    if request.param == "XLNet":
        save_family("XLNet", tmp_path, mem_len=16)
        return Encoder.load(str(tmp_path), **options).eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder_path)
    config = TransformerXLConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=3,
        intermediate_size=32,
        memory=16,
        evaluation_memory=16,
    )
    found = Encoder.from_config(config, tokenizer, **options).eval()
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        for weights in found.parameters():
            if weights.dim() > 1:
                torch.nn.init.normal_(weights, std=0.3)
    return found


def documents() -> list[np.ndarray]:
    chance = np.random.default_rng(0)
    return [chance.integers(8, 50, length) for length in LENGTHS]


def one_after_the_other(encoder: Encoder, ids: np.ndarray) -> Tensor:
    """(tokens, width) by hand: a loop over the pieces of one document, with its memory."""
    special, room, found = encoder.special, encoder.capacity, []
    backbone, memory = encoder.backbone, None
    for start in range(0, len(ids), room):
        piece = torch.tensor([[*special.before, *ids[start : start + room], *special.after]])
        if isinstance(backbone, TransformerXLModel):
            before = backbone.nothing(1) if memory is None else memory
            states, inputs, _ = backbone.read(piece, before)
            memory = before.followed_by(inputs, 16)
        else:
            assert isinstance(backbone, XLNetModel)
            output = backbone(piece, mems=memory, use_mems=True)
            states, memory = output.last_hidden_state, output.mems
        stop = piece.shape[1] - len(special.after)
        found.append(states[0, len(special.before) : stop])
    return torch.cat(found)


@torch.no_grad()
def test_each_window_is_read_with_the_memory_of_those_in_front(encoder: Encoder) -> None:
    batch = encoder.batch(documents())
    assert len(batch.token_ids) == 8
    states, front = encoder.states(batch), len(encoder.special.before)
    for number, ids in enumerate(documents()):
        expected = one_after_the_other(encoder, ids)
        found = states[number, front : front + len(ids)]
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
        alone = encoder.states(encoder.batch([ids]))[0, front : front + len(ids)]
        torch.testing.assert_close(found, alone, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_what_is_far_in_front_is_felt_behind_and_not_the_other_way(encoder: Encoder) -> None:
    ids = documents()[2]
    room = encoder.capacity

    def felt(place: int) -> set[int]:
        other = ids.copy()
        other[place] = 8 if ids[place] != 8 else 9
        front = len(encoder.special.before)
        one, changed = (encoder.states(encoder.batch([each]))[0] for each in (ids, other))
        apart = (one - changed).abs().amax(1)[front : front + len(ids)] > 0
        return set((apart.nonzero()[:, 0] // room).tolist())

    assert felt(room - 1) == {0, 1, 2, 3}  # by the memory of a memory
    assert felt(2 * room) == {2, 3}


def test_no_gradient_goes_through_the_memory(encoder: Encoder) -> None:
    """Tokens that stand in the first window alone get none from the last one."""
    ids = np.r_[np.arange(8, 8 + encoder.capacity), np.full(encoder.capacity, 40)]
    batch, front = encoder.batch([ids]), len(encoder.special.before)
    last = encoder.states(batch)[0, front + encoder.capacity : front + len(ids)]
    table = encoder.backbone.get_input_embeddings().weight
    (gradient,) = torch.autograd.grad(last.square().sum(), table)
    assert not gradient[8 : 8 + encoder.capacity].any()
    assert gradient[40].any()


@torch.no_grad()
def test_what_is_added_to_words_is_added_in_every_window(encoder: Encoder) -> None:
    batch = encoder.batch(documents())
    added = torch.zeros(*batch.token_ids.shape, encoder.embedding_width)
    assert torch.equal(encoder.states(batch, added), encoder.states(batch))
    last = len(batch.token_ids) - 1
    added[last, len(encoder.special.before)] = 1.0
    apart = (encoder.window_states(batch, added) - encoder.window_states(batch)).abs().amax((1, 2))
    assert (apart > 0).nonzero()[:, 0].tolist() == [last]


@torch.no_grad()
def test_attention_is_that_of_a_window_to_its_own_tokens(encoder: Encoder) -> None:
    batch = encoder.batch(documents(), [np.arange(length) for length in LENGTHS])
    rows = encoder(batch).attention
    assert rows.shape[0] == sum(LENGTHS)
    assert torch.allclose(rows.sum(-1), torch.ones(rows.shape[:2]), atol=1e-5)
    front, room = len(encoder.special.before), encoder.capacity
    second = rows[room, :, front : front + len(documents()[0])]  # the first of the second window
    assert second[:, :room].abs().max() == 0
    assert second[:, room : 2 * room].sum() > 0


@torch.no_grad()
def test_a_document_of_one_window_is_read_as_ever(encoder: Encoder) -> None:
    ids = documents()[1]
    options = {"window": WINDOW, "overlap": 0}
    assert encoder.options() == {**options, "long_documents": "recurrence"}
    windows = Encoder(encoder.backbone, encoder.tokenizer, **options)
    batch = encoder.batch([ids])
    assert torch.equal(encoder.states(batch), windows.states(windows.batch([ids])))
    empty = encoder.batch([ids[:0]])
    assert encoder.states(empty).shape[1] == encoder.special.count


def test_an_encoder_without_memory_is_told(tiny_encoder_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        Encoder.load(str(tiny_encoder_path), long_documents="recurrence")
    assert caught.value.code == "no-memory"
