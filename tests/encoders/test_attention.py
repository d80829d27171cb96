"""The fused kernel runs in every layer, and the last layer's attention is known all the same."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from factloom.encoders.attention import AttentionRecord, record_attention
from factloom.encoders.encoder import Encoder

WINDOWS, HEADS, LENGTH, WIDTH = 2, 3, 5, 4


def record(mask: Tensor | None = None, scaling: float = 0.7) -> AttentionRecord:
    generator = torch.Generator().manual_seed(1)
    query, key = torch.randn(
        2, WINDOWS, HEADS, LENGTH, WIDTH, generator=generator, dtype=torch.float64
    )
    return AttentionRecord(query, key, mask, scaling)


def rows_by_loop(kept: AttentionRecord, positions: Tensor, hidden: Tensor) -> Tensor:
    """softmax(q k^T scaling) with the positions of `hidden` (windows, length) left out."""
    assert kept.query is not None
    assert kept.key is not None
    rows = torch.zeros(WINDOWS, HEADS, positions.shape[1], LENGTH, dtype=torch.float64)
    for window in range(WINDOWS):
        for head in range(HEADS):
            for row, position in enumerate(positions[window].tolist()):
                scores = [
                    float(kept.query[window, head, position] @ kept.key[window, head, place])
                    * kept.scaling
                    for place in range(LENGTH)
                ]
                weights = np.exp(scores) * (~hidden[window]).numpy()
                rows[window, head, row] = torch.from_numpy(weights / weights.sum())
    return rows


POSITIONS = torch.tensor([[4, 0, 0], [2, 1, 3]])
HIDDEN = torch.tensor([[False, False, False, True, True], [True, False, False, False, False]])


@pytest.mark.parametrize("kind", ["none", "boolean", "added"])
def test_rows_equal_a_loop_over_windows_heads_and_positions(kind: str) -> None:
    visible = ~HIDDEN[:, None, None, :]  # (windows, 1, 1, length)
    masks = {
        "none": None,
        "boolean": visible.expand(-1, 1, LENGTH, -1),
        "added": torch.where(visible, 0.0, -1e30).double(),
    }
    kept = record(masks[kind])
    hidden = torch.zeros_like(HIDDEN) if kind == "none" else HIDDEN
    torch.testing.assert_close(kept.rows(POSITIONS), rows_by_loop(kept, POSITIONS, hidden))


def test_rows_without_a_run_of_the_encoder_are_a_programming_error() -> None:
    with pytest.raises(RuntimeError, match="has not been run"), record_attention() as kept:
        kept.rows(POSITIONS)


def test_every_layer_runs_the_fused_kernel(
    tiny_encoder_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fused = torch.nn.functional.scaled_dot_product_attention
    calls = []

    def counted(query: Tensor, *arguments: object, **options: object) -> Tensor:
        calls.append(query.shape)
        return fused(query, *arguments, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", counted)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16).eval()
    encoder(encoder.batch([np.arange(10, 30)], [np.array([0])]))
    assert len(calls) == encoder.backbone.config.num_hidden_layers


def test_nothing_is_kept_outside_of_a_recording(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16).eval()
    with record_attention() as outer:
        encoder(encoder.batch([np.arange(10, 30)], [np.array([0])]))  # has a recording of its own
    assert outer.query is None
    encoder.backbone(torch.tensor([[10, 11]]))
    assert outer.query is None
