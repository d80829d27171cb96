"""Passages found for questions: how often the question's own document is among them.

    recall at k = part of the questions whose document has a passage among the first k documents

A question is about the document that holds it. What was found stands in the attribute "passages"
of the predicted question, the best first; several passages of one document count once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from factloom.document import Document
from factloom.evaluation.matching import require_same_text
from factloom.questions import FOUND_PASSAGES

CUTS = (1, 5, 20)


@dataclass(slots=True)
class RetrievalReport:
    """The rank of the right document for every question, from 1; None where it was not found."""

    documents: int
    unknown_documents: int
    ranks: list[int | None] = field(default_factory=list)

    def recall(self, cut: int) -> float | None:
        hits = sum(rank is not None and rank <= cut for rank in self.ranks)
        return hits / len(self.ranks) if self.ranks else None


def evaluate(gold: Sequence[Document], predicted: Sequence[Document]) -> RetrievalReport:
    """Every question of the gold that its document answers."""
    require_same_text(gold, predicted)
    names = {document.id for document in gold}
    unknown = sum(document.id not in names for document in predicted)
    found = {(name, key): passages for name, key, passages in _found(predicted)}
    report = RetrievalReport(len(gold), unknown)
    for document in gold:
        for question in document.questions:
            if question.answers:
                passages = found.get((document.id, question.id or question.text), ())
                report.ranks.append(_rank(passages, document.id))
    return report


def _found(documents: Sequence[Document]) -> Iterator[tuple[str, str, Sequence[Any]]]:
    for document in documents:
        for question in document.questions:
            passages = question.attributes.get(FOUND_PASSAGES, ())
            yield document.id, question.id or question.text, passages


def _rank(passages: Sequence[Mapping[str, Any]], name: str) -> int | None:
    documents = list(dict.fromkeys(str(passage["document"]) for passage in passages))
    return documents.index(name) + 1 if name in documents else None
