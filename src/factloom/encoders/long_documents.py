"""What is done with documents that are longer than a window: the policies, and their names.

Nothing here imports torch: recipes name the policies, too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from factloom.errors import ModelError


class LongDocumentPolicy(Protocol):
    """What is done with a document that has more tokens than a window can hold."""

    def starts(self, tokens: int, capacity: int) -> list[int]:
        """Where the windows of a document begin, each of at most `capacity` tokens."""


@dataclass(frozen=True, slots=True)
class OverlappingWindows:
    """As many windows as it takes; neighbours share `overlap` tokens."""

    overlap: int

    def starts(self, tokens: int, capacity: int) -> list[int]:
        """The last window ends with the document."""
        if tokens <= capacity:
            return [0]
        return [*range(0, tokens - capacity, capacity - self.overlap), tokens - capacity]


@dataclass(frozen=True, slots=True)
class OneWindow:
    """One window, and an error where it is too small."""

    overlap: int  # of no use here

    def starts(self, tokens: int, capacity: int) -> list[int]:
        if tokens > capacity:
            raise ModelError("document-too-long", tokens=tokens, capacity=capacity)
        return [0]


@dataclass(frozen=True, slots=True)
class ConsecutiveWindows:
    """As many windows as it takes, behind each other; encoders/recurrence.py joins them."""

    overlap: int  # of no use here: what is in front is remembered

    def starts(self, tokens: int, capacity: int) -> list[int]:
        return [*range(0, max(tokens, 1), capacity)]


LongDocuments = Literal["windows", "error", "recurrence"]
POLICIES: dict[LongDocuments, Callable[[int], LongDocumentPolicy]] = {
    "windows": OverlappingWindows,
    "error": OneWindow,
    "recurrence": ConsecutiveWindows,
}
