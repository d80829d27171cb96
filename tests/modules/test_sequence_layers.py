"""Layers over sentences of different lengths: padding is never seen."""

import pytest
import torch
from torch import Tensor, nn

from factloom.modules.sequence_layers import BidirectionalLstm, RelativeTransformer, turned_round

LENGTHS = torch.tensor([5, 2, 4])


def states() -> Tensor:
    torch.manual_seed(5)
    return torch.randn(3, 5, 6, dtype=torch.float64)


@pytest.mark.parametrize("layers", [1, 2])
def test_the_lstm_equals_the_bidirectional_one_of_torch_sentence_by_sentence(layers: int) -> None:
    inputs = states()
    model = BidirectionalLstm(6, 4, layers, dropout=0.5).double().eval()
    peer = nn.LSTM(6, 4, layers, batch_first=True, bidirectional=True).double()
    for number in range(layers):
        for name, direction in (("onward", ""), ("back", "_reverse")):
            for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                source = getattr(getattr(model, name)[number], f"{kind}_l0")
                getattr(peer, f"{kind}_l{number}{direction}").data.copy_(source)
    found = model(inputs, LENGTHS)
    assert model.width == found.shape[2] == 8
    for number, length in enumerate(LENGTHS.tolist()):
        expected, _ = peer(inputs[number : number + 1, :length])
        torch.testing.assert_close(found[number, :length], expected[0])


def make(kind: str) -> nn.Module:
    torch.manual_seed(6)
    if kind == "lstm":
        return BidirectionalLstm(6, 4, 2, 0.3).double().eval()
    return RelativeTransformer(6, 8, 2, 2, 0.3).double().eval()


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
def test_padding_is_never_seen(kind: str) -> None:
    model, inputs = make(kind), states()
    mask = torch.arange(5) < LENGTHS[:, None]
    found = model(inputs, LENGTHS)
    inputs[~mask] = 50.0
    torch.testing.assert_close(model(inputs, LENGTHS)[mask], found[mask])
    alone = model(inputs[1:2, :2], LENGTHS[1:2])
    torch.testing.assert_close(alone[0], found[1, :2])


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
def test_every_character_sees_every_other_and_knows_the_order(kind: str) -> None:
    model = make(kind)
    inputs = states()[:1].requires_grad_()
    length = LENGTHS[:1]
    for place in range(5):
        gradient = torch.autograd.grad(model(inputs, length)[0, place, 0], inputs)[0]
        assert gradient[0].abs().sum(1).min() > 0
    backwards = model(inputs.flip(1), length).flip(1)
    assert not torch.allclose(backwards, model(inputs, length), atol=1e-3)


def test_sentences_are_turned_round_up_to_their_end() -> None:
    numbers = torch.arange(10.0).view(2, 5, 1)
    found = turned_round(numbers, torch.tensor([5, 3])).squeeze(2)
    assert found.tolist() == [[4, 3, 2, 1, 0], [7, 6, 5, 8, 9]]
