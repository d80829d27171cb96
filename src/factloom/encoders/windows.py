"""Documents of any length: overlapping windows, encoded in one batch, merged by averaging.

How the windows lie over a document's slots, and how what they give is merged again:
modules/windows.py. A question about the document is one of the special things in front: every
window carries it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from factloom.encoders.long_documents import LongDocumentPolicy
from factloom.encoders.special_tokens import SpecialTokens
from factloom.modules.devices import Numbers
from factloom.modules.windows import WindowBatch

TokenIds = NDArray[np.int64]


def batch_windows(
    documents: Sequence[TokenIds],
    rows: Sequence[NDArray[np.int64]],
    special: Sequence[SpecialTokens],
    window: int,
    policy: LongDocumentPolicy,
) -> WindowBatch[Numbers]:
    """Cut documents into windows, each within the special tokens of its document.

    `rows` are the token positions whose attention is asked for.
    """
    plan = [
        (index, start, min(len(tokens) - start, window - around.count))
        for index, (tokens, around) in enumerate(zip(documents, special, strict=True))
        for start in policy.starts(len(tokens), window - around.count)
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
        token_ids=token_ids,
        token_types=token_types if typed else None,
        mask=mask,
        visible=None,
        positions=None,
        document=np.array([index for index, _, _ in plan], np.int64),
        slots=slots,
        lengths=lengths,
        query=query,
        query_index=np.concatenate(uses),
        query_row=np.concatenate(query_rows),
        rows=int(row_offset[-1]),
    )
