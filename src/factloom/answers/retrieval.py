"""Finding passages: what all retrievers have in common, and how two are joined."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from factloom.answers.passages import Passage
from factloom.document import Document
from factloom.graph.identifiers import document_key

RANK_CONSTANT = 60


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that was found; higher scores are better, of one search alone."""

    passage: Passage
    score: float


class Retriever(Protocol):
    """Anything that finds passages for a question."""

    def search(self, question: str, top: int = 20) -> list[Found]:
        """The best passages, the best first."""


class WholeDocuments:
    """All documents, whole, whatever is asked: for a reader that finds its way in long texts."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.passages = [
            Passage(document_key(document), 0, len(document.text), document.text)
            for document in documents
        ]

    def search(self, question: str, top: int = 20) -> list[Found]:  # noqa: ARG002
        return [Found(passage, 0.0) for passage in self.passages]


def fuse_ranks(
    rankings: Iterable[Sequence[int]], constant: int = RANK_CONSTANT
) -> list[tuple[int, float]]:
    """Rankings joined by reciprocal rank, the best first; of equals, what was ranked first.

    Cormack, Clarke, Buettcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods, SIGIR 2009:

        score(d) = sum over rankings that have d of 1 / (constant + rank of d), ranks from 1

    Scores of different retrievers need not be comparable: only their order counts.

        >>> [item for item, _ in fuse_ranks([[7, 8, 9], [8, 9]])]
        [8, 9, 7]
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (constant + rank)
    return sorted(scores.items(), key=lambda scored: -scored[1])
