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
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from factloom.modules.relative_positions import RelativePositions

RECORDING_ATTENTION = "factloom_recording"
RELATIVE_ATTENTION = "factloom_relative"


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
            mask = self.mask.expand(positions.shape[0], -1, self.query.shape[2], -1)
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


_positions: ContextVar[Tensor | None] = ContextVar("relative_positions", default=None)


@contextmanager
def at_positions(positions: Tensor | None) -> Iterator[None]:
    """Relative attention inside counts distances by these (windows, length); else by the order."""
    token = _positions.set(positions)
    try:
        yield
    finally:
        _positions.reset(token)


def _relative_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Tensor, None]:
    """That of modules/relative_positions.py; `relative_positions` of the configuration is K."""
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    positions = _positions.get()
    if positions is None:
        positions = torch.arange(query.shape[2], device=query.device)
    limit = cast(Any, module).config.relative_positions
    relative = RelativePositions(positions, query.shape[-1], limit)
    bias = relative.scores(query) * scaling  # (windows, heads, length, length)
    if attention_mask is not None and attention_mask.dtype == torch.bool:
        bias = bias.masked_fill(~attention_mask, torch.finfo(bias.dtype).min)
    elif attention_mask is not None:
        bias = bias + attention_mask
    record = current_record()
    if record is not None:
        record.query, record.key, record.mask, record.scaling = query, key, bias, scaling
    weights = (query @ key.transpose(2, 3) * scaling + bias).softmax(-1)
    weights = functional.dropout(weights, dropout, training=module.training)
    output = weights @ value + relative.values(weights)  # (windows, heads, length, d)
    return output.transpose(1, 2).contiguous(), None


for _name, _attention in (
    (RECORDING_ATTENTION, _recording_attention),
    (RELATIVE_ATTENTION, _relative_attention),
):
    AttentionInterface.register(_name, _attention)
    AttentionMaskInterface.register(_name, sdpa_mask)
