"""What a training is examined by: while it runs, and when it is finished.

A run asks its examiner for nothing else, so that whatever is trained can bring its own: documents
with labels (here), texts whose words are hidden, questions.
"""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from factloom.document import Document
from factloom.evaluation.relations import Fact
from factloom.evaluation.tasks import TASKS, Answers
from factloom.training.corpus import Corpus


class Examiner(Protocol):
    """Chooses the best model of a training, finishes it and reports on it."""

    def score_names(self) -> Collection[str]:
        """The scores that `validate` gives; none if there is nothing to validate on."""

    def validate(self, model: Any) -> dict[str, float]:
        """The scores of a model in training."""

    def fit(self, model: Any) -> dict[str, Any]:
        """Set what the finished model is given at the end, such as thresholds; what to report."""

    def report(self, model: Any) -> dict[str, Any]:
        """What results.json says of the finished model: `development` and `report` are shown."""


class DocumentExaminer:
    """Compares what a model finds in annotated documents with what people found."""

    def __init__(self, corpus: Corpus, task: str) -> None:
        self.corpus, self.task = corpus, TASKS[task]

    def score_names(self) -> Collection[str]:
        """Those that the documents get for their own labels: they depend on what is annotated."""
        gold = self.corpus.development
        beside = [document.named() for document in gold] if self.task.asked_beside else None
        return self.task.scores(gold, Answers(gold, beside)) if gold else ()

    def validate(self, model: Any) -> dict[str, float]:
        return measure(model, self.corpus.development)

    def fit(self, model: Any) -> dict[str, Any]:
        gold = self.corpus.fitting
        return {"scores_fitted": model.fit_scores(gold)} if gold else {}

    def report(self, model: Any) -> dict[str, Any]:
        gold, facts = self.corpus.development, self.corpus.train_facts
        report = self.corpus.report.items()
        return {
            "development": measure(model, gold, facts) if gold else {},
            "report": {path: measure(model, found, facts) for path, found in report},
        }


def measure(
    model: Any, documents: Sequence[Document], train_facts: frozenset[Fact] | None = None
) -> dict[str, float]:
    """The scores of what the model finds in documents, of which it does not see the labels."""
    task = TASKS[model.task]
    return task.scores(documents, task.ask(model, documents), train_facts)
