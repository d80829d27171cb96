"""Corrupted stretches of many windows as tensors.

Stretches of a window stand in one row behind each other. Each sees itself alone, and its positions
begin anew. Where a row has one stretch that sees all of itself there is no matrix of who sees whom,
and the fused kernel of an encoder is at its fastest.

What a decoder writes for them stands in rows of its own, in the same order: each of its slots sees
those in front of it, and all of the encoder's, of its own stretch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from factloom.modules.devices import moved
from factloom.modules.windows import WindowBatch
from factloom.objectives import Corrupted, Integers, Written


class NamedTensors(dict[str, Tensor]):
    """Tensors by name that go to a device together."""

    def to(self, device: Any) -> "NamedTensors":
        return NamedTensors({name: tensor.to(device) for name, tensor in self.items()})


@dataclass(frozen=True, slots=True)
class Losses:
    """What an objective finds wrong, before it is summed up.

    The loss is the mean over all targets. What else is asked for, such as a label, is a mean over
    its stretch, which counts as often as the stretch has targets: so the loss of a step does not
    depend on how it is cut into batches, and that of one text is the plain sum of its paper.
    """

    tokens: Tensor  # (targets,) -log p of each
    further: Mapping[str, Tensor] = field(default_factory=dict)  # (stretches,) weighed already

    def total(self, batch: "TextBatch") -> Tensor:
        weights = batch.stretch_weights
        return self.tokens.mean() + sum((loss * weights).sum() for loss in self.further.values())


@dataclass(frozen=True, slots=True)
class WrittenBatch:
    """What a decoder reads, and who sees whom."""

    tokens: Tensor  # (rows, length)
    positions: Tensor  # (rows, length)
    sees: Tensor  # (rows, length, length) slots of the decoder
    sees_read: Tensor  # (rows, length, length of what is read) slots of the encoder

    def to(self, device: Any) -> Self:
        return moved(self, device)


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Rows of slots, and targets among them; slots are counted through all rows.

    Where something is written, the slots of targets are those of the decoder.
    """

    windows: WindowBatch
    written: WrittenBatch | None
    slots: Tensor  # (targets,)
    wanted: Tensor  # (targets,) token ids
    stretch: Tensor  # (targets,) the stretch of each
    first: Tensor  # (stretches,) the slot that each begins with
    labels: Tensor  # (stretches,) -1 for none
    owner: Tensor  # (rows, length) the stretch of each slot; -1 for padding
    along: NamedTensors  # (rows, length) each
    beside: NamedTensors  # (targets,) each

    @property
    def weight(self) -> int:
        return len(self.slots)

    @property
    def stretch_weights(self) -> Tensor:
        """(stretches,) targets of each, as a part of all: what its further losses count for."""
        counts = torch.bincount(self.stretch, minlength=len(self.first))
        return counts / max(len(self.slots), 1)

    def to(self, device: Any) -> Self:
        return moved(self, device)


def lay_out(rows: Sequence[Sequence[Corrupted]], padding: int) -> TextBatch:
    """Put the stretches of each row behind each other, and rows below each other."""
    flat = [piece for row in rows for piece in row]
    read = _Rows([[len(piece.tokens) for piece in row] for row in rows])

    def laid(values: Callable[[Corrupted], NDArray[Any] | None], empty: int) -> Integers:
        return read.laid([values(piece) for piece in flat], empty)

    tokens, owner = laid(lambda piece: piece.tokens, padding), read.owner()
    texts = [[piece.written for piece in row if piece.written is not None] for row in rows]
    asked, written = read, None
    if any(texts):
        asked = _Rows([[len(text.tokens) for text in row] for row in texts])
        written = _written([text for row in texts for text in row], asked, owner, padding)
    typed = any(piece.types is not None for piece in flat)
    placed = any(piece.positions is not None for piece in flat) or len(flat) > len(rows)
    counts = [len(piece.slots) for piece in flat]
    return TextBatch(
        windows=_windows(
            tokens,
            owner >= 0,
            laid(lambda piece: piece.types, 0) if typed else None,
            laid(_positions, 0) if placed else None,
            _visible(rows, read.length),
        ),
        written=written,
        slots=_joined([p.slots + start for start, p in zip(asked.starts, flat, strict=True)]),
        wanted=_joined([piece.wanted for piece in flat]),
        stretch=torch.from_numpy(np.repeat(np.arange(len(flat)), counts)),
        first=torch.tensor(read.starts, dtype=torch.int64),
        labels=torch.tensor([-1 if piece.label is None else piece.label for piece in flat]),
        owner=torch.from_numpy(owner),
        along=NamedTensors(
            {name: torch.from_numpy(laid(_along(name), 0)) for name in flat[0].along}
        ),
        beside=NamedTensors(
            {
                name: _joined([p.beside[name] + s for s, p in zip(asked.starts, flat, strict=True)])
                for name in flat[0].beside
            }
        ),
    )


class _Rows:
    """Where the pieces of each row stand, whose lengths are given."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self.count, self.length = len(rows), max(map(sum, rows))
        self.lengths = [length for row in rows for length in row]
        self.starts = [
            number * self.length + int(start)
            for number, row in enumerate(rows)
            for start in np.cumsum([0, *row])[:-1]
        ]  # (pieces,) where each begins, counted through all rows

    def laid(self, values: Sequence[NDArray[Any] | int | None], empty: int) -> Integers:
        """(rows, length) the numbers of each piece at its place; 0 for None."""
        table = np.full(self.count * self.length, empty, np.int64)
        for start, length, found in zip(self.starts, self.lengths, values, strict=True):
            table[start : start + length] = 0 if found is None else found
        return table.reshape(self.count, self.length)

    def owner(self) -> Integers:
        """(rows, length) the piece of each slot; -1 for padding."""
        return self.laid(list(range(len(self.starts))), -1)


def _written(texts: Sequence[Written], places: _Rows, read: Integers, padding: int) -> WrittenBatch:
    """`read` (rows, length) are the stretches that the encoder's slots are of."""
    owner = places.owner()
    return WrittenBatch(
        tokens=torch.from_numpy(places.laid([text.tokens for text in texts], padding)),
        positions=torch.from_numpy(places.laid([text.positions for text in texts], 0)),
        sees=torch.from_numpy(np.tril(owner[:, :, None] == owner[:, None, :])),
        sees_read=torch.from_numpy(owner[:, :, None] == read[:, None, :]),
    )


def _along(name: str) -> Callable[[Corrupted], Integers]:
    return lambda piece: piece.along[name]


def _positions(piece: Corrupted) -> Integers:
    return np.arange(len(piece.tokens)) if piece.positions is None else piece.positions


def _visible(rows: Sequence[Sequence[Corrupted]], length: int) -> NDArray[np.bool_] | None:
    """(rows, length, length) None where every row is one stretch that sees all of itself."""
    if all(len(row) == 1 and row[0].visible is None for row in rows):
        return None
    table = np.zeros((len(rows), length, length), bool)
    for number, row in enumerate(rows):
        start = 0
        for piece in row:
            inside = slice(start, start + len(piece.tokens))
            table[number, inside, inside] = True if piece.visible is None else piece.visible
            start = inside.stop
    return table


def _joined(parts: Sequence[Integers]) -> Tensor:
    return torch.from_numpy(np.concatenate(parts).astype(np.int64))


def _windows(
    tokens: Integers,
    filled: NDArray[np.bool_],
    types: Integers | None,
    positions: Integers | None,
    visible: NDArray[np.bool_] | None,
) -> WindowBatch:
    """Every row is a document of one window."""
    rows, length = tokens.shape
    none = torch.zeros(0, dtype=torch.int64)
    return WindowBatch(
        token_ids=torch.from_numpy(tokens),
        token_types=None if types is None else torch.from_numpy(types),
        mask=torch.from_numpy(filled.astype(np.int64)),
        visible=None if visible is None else torch.from_numpy(visible),
        positions=None if positions is None else torch.from_numpy(positions),
        document=torch.arange(rows),
        slots=torch.arange(length).expand(rows, -1),
        lengths=(length,) * rows,
        query=torch.zeros(rows, 1, dtype=torch.int64),
        query_index=none,
        query_row=none,
        rows=0,
    )
