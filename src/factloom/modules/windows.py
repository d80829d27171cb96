"""Windows over documents as tensors, and the way back from windows to documents.

A document of n tokens has n + s *slots*: the special tokens that its tokenizer puts in front
and behind, and its tokens. Every window holds the special tokens and a stretch of tokens. A
state or an attention row that several windows give for one slot is their mean. A document that
fits into one window comes out exactly as the encoder gives it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, cast

from factloom.modules.devices import Array, moved
from factloom.modules.pooling import segment_mean

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class WindowBatch(Generic[Array]):
    """Windows of several documents, and the way back to the documents' slots."""

    token_ids: Array  # (windows, window length)
    token_types: Array | None  # (windows, window length); None leaves them to the encoder
    mask: Array  # (windows, window length), 1 for tokens, 0 for padding
    # where a network is to see other things than all tokens, at other places than in order:
    visible: Array | None  # bool (windows, window length, window length), row sees column
    positions: Array | None  # (windows, window length)
    document: Array  # (windows,) the document of each window
    slots: Array  # (windows, window length) slot in the document; `length` for padding
    lengths: tuple[int, ...]  # slots of each document
    query: Array  # (windows, queries) window positions whose attention is asked for
    query_index: Array  # (uses,) into windows x queries
    query_row: Array  # (uses,) the row that each use belongs to
    rows: int

    @property
    def length(self) -> int:
        return max(self.lengths)

    @property
    def one_window_each(self) -> bool:
        return len(cast(Any, self.token_ids)) == len(self.lengths)

    def to(self, device: "torch.device | str") -> "WindowBatch":
        return moved(cast(WindowBatch, self), device)


def merge_states(states: "Tensor", windows: WindowBatch) -> "Tensor":
    """(windows, window length, width) -> (documents, length, width): means where they overlap."""
    if windows.one_window_each:
        return states
    documents, length = len(windows.lengths), windows.length
    return mean_states(states, windows.document, windows.slots, documents, length)


def mean_states(
    states: "Tensor", document: "Tensor", slots: "Tensor", documents: int, length: int
) -> "Tensor":
    """(documents, length, width) each slot's mean over the windows that hold it."""
    # one slot more a document takes up the padding and is cut off at the end
    index = (document[:, None] * (length + 1) + slots).flatten()
    merged = segment_mean(states.flatten(0, 1), index, documents * (length + 1))
    return merged.view(documents, length + 1, states.shape[-1])[:, :length]


def merge_rows(attention: "Tensor", windows: WindowBatch) -> "Tensor":
    """(windows, heads, queries, window length) -> (rows, heads, length), the mean over windows."""
    if windows.one_window_each:
        return attention.transpose(1, 2).flatten(0, 1).index_select(0, windows.query_index)
    uses = windows.query_index, windows.query_row
    return mean_rows(attention, windows.slots, *uses, windows.rows, windows.length)


def mean_rows(
    attention: "Tensor",
    slots: "Tensor",
    query_index: "Tensor",
    query_row: "Tensor",
    rows: int,
    length: int,
) -> "Tensor":
    """(rows, heads, length) each row's mean over the windows that hold its token."""
    used = attention.transpose(1, 2).flatten(0, 1).index_select(0, query_index)
    # (uses, heads, window length)
    window = query_index // attention.shape[2]  # (uses,)
    target = slots[window][:, None].expand(-1, used.shape[1], -1)  # (uses, heads, window length)
    placed = used.new_zeros(used.shape[0], used.shape[1], length + 1).scatter(2, target, used)
    return segment_mean(placed[..., :length], query_row, rows)
