"""Put a marker before and after every mention, and keep the way back to the text."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloom.document import Span


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with markers in it.

    `opening` has the character of each span's opening marker; `origin` has, for every character
    of `text`, the character of the unmarked text that it stands for.
    """

    text: str
    opening: NDArray[np.int64]  # (spans,)
    origin: NDArray[np.int64]  # (characters,)


def mark_spans(text: str, spans: Sequence[Span], marker: str) -> MarkedText:
    """Write `marker` around the spans, set off by single spaces; spans may nest and overlap.

    >>> mark_spans("born in London.", [(8, 14)], "*").text
    'born in * London * .'
    """
    distinct = sorted(set(spans), key=lambda span: (span[0], -span[1]))
    # at one place spans close before others open; of nested ones the inner closes first
    events: list[tuple[int, int, int, Span | None]] = []
    for start, end in distinct:
        events += [(start, 1, -end, (start, end)), (end, 0, -start, None)]
    pieces: list[str] = []
    origins: list[NDArray[np.int64]] = []
    written, copied = 0, 0
    position_of: dict[Span, int] = {}

    def write(piece: str, origin: NDArray[np.int64]) -> None:
        nonlocal written
        pieces.append(piece)
        origins.append(origin)
        written += len(piece)

    for place, _, _, span in sorted(events, key=lambda event: event[:3]):
        if place > copied:
            write(text[copied:place], np.arange(copied, place))
            copied = place
        before = "" if not pieces or pieces[-1][-1].isspace() else " "
        after = "" if place == len(text) or text[place].isspace() else " "
        # a closing marker belongs to the last character of its mention, an opening one to the first
        stands_for = place if span is not None else place - 1
        if span is not None:
            position_of[span] = written + len(before)
        write(before + marker + after, np.full(len(before + marker + after), stands_for))
    write(text[copied:], np.arange(copied, len(text)))
    return MarkedText(
        text="".join(pieces),
        opening=np.asarray([position_of[span] for span in spans], dtype=np.int64),
        origin=np.concatenate(origins).astype(np.int64),
    )
