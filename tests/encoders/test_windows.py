"""Documents of any length: overlapping windows in one batch equal a naive loop over windows."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from families import save_family
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AutoModel

from factloom.encoders.encoder import Encoder
from factloom.encoders.long_documents import OverlappingWindows
from factloom.errors import ModelError

LONG = 5000


@pytest.fixture(scope="module")
def long_encoder_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with as many positions as the real one."""
    path = tmp_path_factory.mktemp("encoders") / "long"
    save_family("BERT", path, max_position_embeddings=512)
    return path


def random_tokens(length: int, seed: int = 0) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(10, 150, length)


@torch.no_grad()
def window_by_window(
    reference: nn.Module, encoder: Encoder, tokens: NDArray[np.int64], rows: Sequence[int]
) -> tuple[list[Tensor], list[Tensor]]:
    """States of all slots and attention of `rows`, a window at a time, averaged in plain Python."""
    (first,), (last,) = encoder.special.before, encoder.special.after
    size, step = encoder.window - 2, encoder.window - 2 - encoder.overlap
    slots = len(tokens) + 2
    states: list[list[Tensor]] = [[] for _ in range(slots)]
    attention: list[list[Tensor]] = [[] for _ in rows]
    start = 0
    while True:
        content = tokens[start : start + size].tolist()
        places = [0, *range(start + 1, start + 1 + len(content)), slots - 1]
        output = reference(torch.tensor([[first, *content, last]]), output_attentions=True)
        for position, slot in enumerate(places):
            states[slot].append(output.last_hidden_state[0, position])
        for number, row in enumerate(rows):
            if start <= row < start + len(content):
                spread = torch.zeros(4, slots, dtype=torch.float64)
                spread[:, places] = output.attentions[-1][0, :, row - start + 1]
                attention[number].append(spread)
        if start + size >= len(tokens):
            break
        start = min(start + step, len(tokens) - size)
    averaged = [[sum(found) / len(found) for found in part] for part in (states, attention)]
    return averaged[0], averaged[1]


@pytest.mark.parametrize(
    "options", [{"window": 64, "overlap": 16}, {"window": 64, "overlap": 40}, {}]
)
def test_a_5000_token_document_equals_a_naive_loop_over_windows(
    long_encoder_path: Path, options: dict[str, int]
) -> None:
    encoder = Encoder.load(str(long_encoder_path), **options).eval().double()
    reference = AutoModel.from_pretrained(long_encoder_path, attn_implementation="eager")
    documents = [random_tokens(length, seed=length) for length in (30, LONG, 700, 0, 62)]
    places = [[0, 29], [0, 1, 40, 61, 62, 384, 400, 2500, LONG - 1], [699, 5, 5], [], [61]]
    with torch.no_grad():
        found = encoder(encoder.batch(documents, [np.array(p, dtype=np.int64) for p in places]))
    assert found.states.shape == (5, LONG + 2, 32)
    row = 0
    for index, (tokens, rows) in enumerate(zip(documents, places, strict=True)):
        states, attention = window_by_window(reference.eval().double(), encoder, tokens, rows)
        torch.testing.assert_close(found.states[index, : len(tokens) + 2], torch.stack(states))
        for expected in attention:
            torch.testing.assert_close(found.attention[row, :, : len(tokens) + 2], expected)
            row += 1
    assert row == len(found.attention)
    sums = found.attention.sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))


def test_all_windows_of_a_batch_go_through_the_encoder_in_one_pass(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), window=20, overlap=4).eval()
    sizes = []
    encoder.backbone.register_forward_pre_hook(
        lambda _module, _arguments, inputs: sizes.append(tuple(inputs["input_ids"].shape)),
        with_kwargs=True,
    )
    encoder(encoder.batch([random_tokens(60), random_tokens(10)]))
    assert sizes == [(5, 20)]  # 60 tokens are four windows of 18


def test_a_document_that_fits_one_window_does_not_depend_on_the_windows(
    tiny_encoder_path: Path,
) -> None:
    wide = Encoder.load(str(tiny_encoder_path), overlap=16).eval()
    narrow = Encoder.load(str(tiny_encoder_path), window=42, overlap=16).eval()
    tokens, rows = random_tokens(40), np.arange(40)
    with torch.no_grad():
        expected = wide(wide.batch([tokens], [rows]))
        found = narrow(narrow.batch([tokens], [rows]))
    assert torch.equal(found.states, expected.states)
    assert torch.equal(found.attention, expected.attention)


def test_gradients_flow_through_merged_windows(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), window=20, overlap=4).eval()
    tokens = random_tokens(50)
    found = encoder(encoder.batch([tokens], [np.array([3, 47])]))
    table = encoder.backbone.get_input_embeddings().weight
    (gradient,) = torch.autograd.grad(found.states.square().sum(), table, retain_graph=True)
    assert gradient[torch.from_numpy(tokens)].abs().sum(1).gt(0).all()
    (gradient,) = torch.autograd.grad(found.attention.square().sum(), table)
    seen = torch.from_numpy(np.r_[tokens[:18], tokens[-18:]])
    assert gradient[seen].abs().sum(1).gt(0).all()


def test_a_long_document_is_an_error_where_that_was_asked_for(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(
        str(tiny_encoder_path), window=64, overlap=16, long_documents="error"
    ).eval()
    encoder.batch([random_tokens(62)])
    with pytest.raises(ModelError, match="63 tokens and one window holds 62") as caught:
        encoder.batch([random_tokens(10), random_tokens(63)])
    assert caught.value.code == "document-too-long"


@pytest.mark.parametrize(("window", "overlap"), [(20, 18), (20, 40), (2, 0), (20, -1)])
def test_windows_that_cannot_move_on_are_refused(
    tiny_encoder_path: Path, window: int, overlap: int
) -> None:
    with pytest.raises(ModelError) as caught:
        Encoder.load(str(tiny_encoder_path), window=window, overlap=overlap)
    assert caught.value.code == "window-too-small"


@given(st.integers(0, 400), st.integers(1, 60), st.data())
def test_windows_cover_the_document_and_overlap_enough(
    tokens: int, capacity: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, capacity - 1))
    starts = OverlappingWindows(overlap).starts(tokens, capacity)
    ends = [min(start + capacity, tokens) for start in starts]
    assert starts[0] == 0
    assert ends[-1] == tokens
    covered = {
        place for start, end in zip(starts, ends, strict=True) for place in range(start, end)
    }
    assert covered == set(range(tokens))
    for end, following in zip(ends, starts[1:], strict=False):
        assert end - following >= overlap
    fewest = 1 if tokens <= capacity else -(-(tokens - overlap) // (capacity - overlap))
    assert len(starts) == fewest


@torch.no_grad()
def test_who_sees_whom_and_positions_can_be_given(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path)).eval()
    windows = encoder.batch([random_tokens(9), random_tokens(5, seed=1)])
    length = windows.token_ids.shape[1]
    plain = encoder.states(windows)
    everything = torch.ones(2, length, length, dtype=torch.bool)
    in_order = torch.arange(length).expand(2, length)
    same = encoder.states(dataclasses.replace(windows, visible=everything, positions=in_order))
    inside = windows.mask.bool()
    torch.testing.assert_close(same[inside], plain[inside])

    causal = dataclasses.replace(windows, visible=everything.tril())
    before = encoder.states(causal)
    token_ids = windows.token_ids.clone()
    token_ids[0, 6] = 11
    after = encoder.states(dataclasses.replace(causal, token_ids=token_ids))
    torch.testing.assert_close(after[0, :6], before[0, :6], rtol=0, atol=0)
    assert not torch.equal(after[0, 6:], before[0, 6:])

    moved = encoder.states(dataclasses.replace(windows, positions=in_order.flip(1)))
    assert not torch.allclose(moved[inside], plain[inside])
