"""What finds the passages that may answer a question."""

from dataclasses import dataclass
from typing import Protocol

from factloom.answers.passages import Passage


@dataclass(frozen=True, slots=True)
class Found:
    """A passage, and how well it fits the question."""

    passage: Passage
    score: float


class Retriever(Protocol):
    """Anything that finds passages for a question."""

    def search(self, question: str, top: int = 20) -> list[Found]:
        """The best `top` passages, the best first."""
        ...
