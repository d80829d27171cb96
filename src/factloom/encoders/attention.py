"""Fused attention in every layer, and still the last layer's attention where it is asked for.

Hugging Face models either run the fused kernel, which returns no attention, or the plain one,
which lays out (heads, length, length) in every layer. Relation models read only the rows of
the mentions in the last layer. So we register an attention function that runs the fused
kernel and keeps the queries and keys of the latest call; the rows are made from those.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

RECORDING_ATTENTION = "factloom_recording"


@dataclass(slots=True)
class AttentionRecord:
    """What the last layer's attention was made from."""

    query: Tensor | None = None  # (windows, heads, length, head width)
    key: Tensor | None = None  # (windows, heads, length, head width)
    mask: Tensor | None = None  # broadcasts to (windows, heads, length, length)
    scaling: float = 1.0

    def rows(self, positions: Tensor) -> Tensor:
        """The attention from `positions` (windows, rows) to all: (windows, heads, rows, length)."""
        if self.query is None or self.key is None:
            raise RuntimeError("no attention was recorded: the encoder has not been run")
        heads, width = self.query.shape[1], self.query.shape[3]
        index = positions[:, None, :, None]  # (windows, 1, rows, 1)
        queries = self.query.gather(2, index.expand(-1, heads, -1, width))
        scores = queries @ self.key.transpose(2, 3) * self.scaling  # (windows, heads, rows, length)
        if self.mask is not None:
            mask = self.mask.expand(len(positions), -1, self.query.shape[2], -1)
            mask = mask.gather(2, index.expand(-1, mask.shape[1], -1, mask.shape[3]))
            if mask.dtype == torch.bool:
                scores = scores.masked_fill(~mask, -torch.inf)
            else:
                scores = scores + mask
        return scores.softmax(-1)


_current: ContextVar[AttentionRecord | None] = ContextVar("attention_record", default=None)


@contextmanager
def record_attention() -> Iterator[AttentionRecord]:
    """Keep the queries and keys of the last attention layer that runs inside the block."""
    record = AttentionRecord()
    token = _current.set(record)
    try:
        yield record
    finally:
        _current.reset(token)


def current_record() -> AttentionRecord | None:
    """Where to keep queries and keys; None where nobody asks for them."""
    return _current.get()


def _recording_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    record = current_record()
    if record is not None:
        record.query, record.key, record.mask = query, key, attention_mask
        record.scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    output, _ = sdpa_attention_forward(
        module, query, key, value, attention_mask, scaling=scaling, **options
    )
    return output, None


AttentionInterface.register(RECORDING_ATTENTION, _recording_attention)
AttentionMaskInterface.register(RECORDING_ATTENTION, sdpa_mask)
