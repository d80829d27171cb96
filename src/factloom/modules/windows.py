"""Windows over documents as tensors, and the way back from windows to documents.

A document of n tokens has n + s *slots*: the special tokens that its tokenizer puts in front
and behind, and its tokens. Every window holds the special tokens and a stretch of tokens. A
state or an attention row that several windows give for one slot is their mean. A document that
fits into one window comes out exactly as the encoder gives it.
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from factloom.modules.devices import moved


@dataclass(frozen=True, slots=True)
class WindowBatch:
    """Windows of several documents, and the way back to the documents' slots."""

    token_ids: Tensor  # (windows, window length)
    token_types: Tensor | None  # (windows, window length); None leaves them to the encoder
    mask: Tensor  # (windows, window length), 1 for tokens, 0 for padding
    # where a network is to see other things than all tokens, at other places than in order:
    visible: Tensor | None  # bool (windows, window length, window length), row sees column
    positions: Tensor | None  # (windows, window length)
    document: Tensor  # (windows,) the document of each window
    slots: Tensor  # (windows, window length) slot in the document; `length` for padding
    lengths: tuple[int, ...]  # slots of each document
    query: Tensor  # (windows, queries) window positions whose attention is asked for
    query_index: Tensor  # (uses,) into windows x queries
    query_row: Tensor  # (uses,) the row that each use belongs to
    rows: int

    @property
    def length(self) -> int:
        return max(self.lengths)

    @property
    def one_window_each(self) -> bool:
        return self.token_ids.shape[0] == len(self.lengths)

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


def merge_states(states: Tensor, windows: WindowBatch) -> Tensor:
    """(windows, window length, width) -> (documents, length, width): means where they overlap."""
    if windows.one_window_each:
        return states
    documents, length, width = len(windows.lengths), windows.length, states.shape[-1]
    # one slot more a document takes up the padding and is cut off at the end
    index = (windows.document[:, None] * (length + 1) + windows.slots).flatten()
    total = states.new_zeros(documents * (length + 1), width)
    total = total.index_add(0, index, states.flatten(0, 1))
    count = torch.bincount(index, minlength=len(total)).clamp(min=1)
    merged = total / count[:, None].to(states.dtype)
    return merged.view(documents, length + 1, width)[:, :length]


def merge_rows(attention: Tensor, windows: WindowBatch) -> Tensor:
    """(windows, heads, queries, window length) -> (rows, heads, length), the mean over windows."""
    used = attention.transpose(1, 2).flatten(0, 1).index_select(0, windows.query_index)
    # (uses, heads, window length)
    if windows.one_window_each:
        return used
    heads, length = attention.shape[1], windows.length
    window = windows.query_index // windows.query.shape[1]  # (uses,)
    target = windows.slots[window][:, None].expand(-1, heads, -1)  # (uses, heads, window)
    placed = used.new_zeros(len(used), heads, length + 1).scatter(2, target, used)
    rows = used.new_zeros(windows.rows, heads, length).index_add(
        0, windows.query_row, placed[..., :length]
    )
    count = torch.bincount(windows.query_row, minlength=windows.rows).clamp(min=1)
    return rows / count[:, None, None].to(rows.dtype)
