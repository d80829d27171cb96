"""Documents of any length: overlapping windows, encoded in one batch, merged by averaging.

A document of n tokens has n + s *slots*: the special tokens that its tokenizer puts in front
and behind, and its tokens. Every window holds the special tokens and a stretch of tokens. A
state or an attention row that several windows give for one slot is their mean. A document that
fits into one window comes out exactly as the encoder gives it. A question about the document is
one of the special things in front: every window carries it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from factloom.encoders.devices import moved
from factloom.encoders.special_tokens import SpecialTokens

TokenIds = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WindowBatch:
    """Windows of several documents, and the way back to the documents' slots."""

    token_ids: Tensor  # (windows, window length)
    token_types: Tensor | None  # (windows, window length); None leaves them to the encoder
    mask: Tensor  # (windows, window length), 1 for tokens, 0 for padding
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


def window_starts(tokens: int, capacity: int, overlap: int) -> list[int]:
    """Where windows of `capacity` tokens begin; the last one ends with the document."""
    if tokens <= capacity:
        return [0]
    return [*range(0, tokens - capacity, capacity - overlap), tokens - capacity]


def batch_windows(
    documents: Sequence[TokenIds],
    rows: Sequence[NDArray[np.int64]],
    special: Sequence[SpecialTokens],
    window: int,
    overlap: int,
) -> WindowBatch:
    """Cut documents into windows, each within the special tokens of its document.

    `rows` are the token positions whose attention is asked for.
    """
    plan = [
        (index, start, min(len(tokens), window - around.count))
        for index, (tokens, around) in enumerate(zip(documents, special, strict=True))
        for start in window_starts(len(tokens), window - around.count, overlap)
    ]  # document, first token and number of tokens of each window
    width = max(count + special[index].count for index, _, count in plan)
    lengths = tuple(
        len(tokens) + around.count for tokens, around in zip(documents, special, strict=True)
    )

    token_ids = np.full((len(plan), width), special[0].padding, dtype=np.int64)
    token_types = np.zeros((len(plan), width), dtype=np.int64)
    mask = np.zeros((len(plan), width), dtype=np.int64)
    slots = np.full((len(plan), width), max(lengths), dtype=np.int64)
    queries: list[NDArray[np.int64]] = []
    query_rows: list[NDArray[np.int64]] = []
    row_offset = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    for number, (index, start, count) in enumerate(plan):
        around = special[index]
        before, stop = len(around.before), count + around.count
        content = documents[index][start : start + count]
        token_ids[number, :stop] = [*around.before, *content, *around.after]
        if around.types is not None:
            inner = [around.types.text] * count
            token_types[number, :stop] = [*around.types.before, *inner, *around.types.after]
        mask[number, :stop] = 1
        slots[number, :before] = np.arange(before)
        slots[number, before : before + count] = np.arange(start, start + count) + before
        behind = lengths[index] - len(around.after)
        slots[number, before + count : stop] = np.arange(behind, lengths[index])
        inside = np.flatnonzero((rows[index] >= start) & (rows[index] < start + count))
        queries.append(rows[index][inside] - start + before)
        query_rows.append(inside + row_offset[index])

    most = max(1, *(len(positions) for positions in queries))
    query = np.zeros((len(plan), most), dtype=np.int64)
    for number, positions in enumerate(queries):
        query[number, : len(positions)] = positions
    uses = [number * most + np.arange(len(q)) for number, q in enumerate(queries)]
    typed = special[0].types is not None
    return WindowBatch(
        token_ids=torch.from_numpy(token_ids),
        token_types=torch.from_numpy(token_types) if typed else None,
        mask=torch.from_numpy(mask),
        document=torch.tensor([index for index, _, _ in plan]),
        slots=torch.from_numpy(slots),
        lengths=lengths,
        query=torch.from_numpy(query),
        query_index=torch.from_numpy(np.concatenate(uses)),
        query_row=torch.from_numpy(np.concatenate(query_rows)),
        rows=int(row_offset[-1]),
    )


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
