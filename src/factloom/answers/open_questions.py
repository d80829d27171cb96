"""Questions that are asked of a corpus, as models learn from them: words, and nothing of a text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import torch

from factloom.document import Document


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question to the corpus."""

    id: str  # of the document that holds it
    text: str
    answers: tuple[str, ...] | None  # empty: there is none; None: nobody knows
    read: int  # tokens that are read for it, about

    @property
    def tokens(self) -> int:
        return self.read

    @property
    def terms(self) -> int:
        return int(self.answers is not None)


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """Some of which something is known."""

    questions: tuple[OpenQuestion, ...]
    weight: int

    def to(self, device: torch.device | str) -> Self:  # noqa: ARG002 - texts have no device
        return self


def open_questions(documents: Iterable[Document], read: int) -> list[OpenQuestion]:
    """The questions of documents; about `read` tokens are read for each."""
    return [
        OpenQuestion(
            document.id,
            question.text,
            None if question.answers is None else tuple(one.text for one in question.answers),
            read,
        )
        for document in documents
        for question in document.questions
    ]


def open_batch(examples: Sequence[OpenQuestion]) -> OpenBatch:
    known = tuple(example for example in examples if example.terms)
    return OpenBatch(known, len(known))
