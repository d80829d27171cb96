"""Stretches of texts as tensors, for layers that read mentions: where each lies, and its states."""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from factloom.modules.devices import moved


@dataclass(frozen=True, slots=True)
class TextSpans:
    """Spans of several texts, text by text."""

    text: Tensor  # (spans,) which text, ascending
    first: Tensor  # (spans,) position of the first token
    last: Tensor  # (spans,) position of the last one

    def __len__(self) -> int:
        return len(self.text)

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)

    def ends(self, states: Tensor) -> Tensor:
        """(texts, length, width) -> (spans, 2 width): the states of the first and last token."""
        return torch.cat([states[self.text, self.first], states[self.text, self.last]], -1)

    def tokens(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """(spans, longest, width) the states of all their tokens, and (spans, longest) which count.

        What does not count repeats the last token.
        """
        longest = int((self.last - self.first).max()) + 1 if len(self) else 1
        position = self.first[:, None] + torch.arange(longest, device=self.first.device)
        counts = position <= self.last[:, None]  # (spans, longest)
        position = position.minimum(self.last[:, None])
        return states[self.text[:, None], position], counts

    def places(self) -> tuple[Tensor, Tensor]:
        """(spans,) the row of its text among the texts that have spans, and its place there."""
        _, row, count = torch.unique_consecutive(self.text, return_inverse=True, return_counts=True)
        before = count.cumsum(0) - count  # (texts with spans,)
        return row, torch.arange(len(self), device=row.device) - before[row]


def spans_in_windows(
    document: Tensor, first: Tensor, last: Tensor, windows_document: Tensor, slots: Tensor
) -> tuple[TextSpans, Tensor]:
    """Spans of documents as spans of the windows that hold them whole, and (uses,) which each is.

    `document`, `first`, `last` (spans,) are slots of documents; `slots` (windows, length) says
    which slot of the document `windows_document` (windows,) each position of a window is.
    """
    same = windows_document[:, None] == document  # (windows, spans)
    window, span = same.nonzero(as_tuple=True)  # (pairs,) ordered by windows
    begins = slots[window] == first[span][:, None]  # (pairs, length)
    ends = slots[window] == last[span][:, None]
    whole = begins.any(1) & ends.any(1)
    found = TextSpans(window[whole], begins[whole].int().argmax(1), ends[whole].int().argmax(1))
    return found, span[whole]
