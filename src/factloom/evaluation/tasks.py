"""What is measured, task by task: the numbers that training watches, and whole evaluations.

A model says by its attribute `task` what it finds: "relations" or "mentions".
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from factloom import formats
from factloom.document import Document
from factloom.evaluation import entities, entity_report, plots, relations, report
from factloom.evaluation.confusion import confusion_counts, largest_confusion
from factloom.evaluation.relations import Fact, Prediction, predictions_of
from factloom.evaluation.submission import read_predictions

TrainFacts = AbstractSet[Fact] | None


@dataclass(frozen=True, slots=True)
class Measured:
    """An evaluation as `factloom evaluate` shows it."""

    numbers: Mapping[str, Any]  # for JSON
    tables: Sequence[Table]
    warnings: Sequence[str]  # what makes scores low for a reason that is not the model's
    confusion: Mapping[tuple[str, str], int]  # (gold label, predicted label)
    scored: plots.Scored
    gold: int  # how many there were to be found

    def draw(self, path: Path) -> None:
        """Write confusion, thresholds and reliability as a picture."""
        plots.draw(path, largest_confusion(self.confusion), self.scored, self.gold)


class RelationTask:
    """Relations between the entities of a document."""

    def scores(
        self,
        gold: Sequence[Document],
        predicted: Iterable[Document],
        train_facts: TrainFacts = None,
    ) -> dict[str, float]:
        """The numbers that training watches and reports; Ign F1 where train facts are given."""
        found = relations.evaluate(gold, predicted, train_facts)
        scores = {
            "f1": found.f1,
            "precision": found.precision,
            "recall": found.recall,
            "intra_f1": found.intra_f1,
            "inter_f1": found.inter_f1,
            "evidence_f1": found.evidence_f1,
        }
        if found.inferable.gold:
            scores |= {"infer_f1": found.infer_f1, "infer_accuracy": found.infer_accuracy}
        return scores if found.ign_f1 is None else scores | {"ign_f1": found.ign_f1}

    def measure(
        self,
        gold: Sequence[Document],
        predicted: Iterable[Document],
        train_facts: TrainFacts = None,
        samples: int = 2000,
    ) -> Measured:
        """Everything about predicted documents, with `samples` draws for the intervals."""
        return self._measure(gold, predictions_of(predicted), train_facts, samples)

    def measure_file(
        self,
        gold: Sequence[Document],
        path: Path,
        train_facts: TrainFacts = None,
        samples: int = 2000,
    ) -> Measured:
        """The same about a file of predictions."""
        return self._measure(gold, read_predictions(path), train_facts, samples)

    def _measure(
        self,
        gold: Sequence[Document],
        predictions: Iterable[Prediction],
        train_facts: TrainFacts,
        samples: int,
    ) -> Measured:
        found = relations.evaluate_predictions(gold, predictions, train_facts)
        summary = report.summarise(found, samples)
        distinct = (judgement.prediction for judgement in found.judgements)
        return Measured(
            numbers=report.to_json(summary),
            tables=list(report.tables(summary)),
            warnings=_warnings("relations", found.relations.gold, found.unknown_documents),
            confusion=confusion_counts(gold, distinct),
            scored=found.scored,
            gold=found.relations.gold,
        )

    def unlabelled(self, document: Document) -> Document:
        """The document without what a model has to find."""
        return document.replace(relations=())

    def confident(self, document: Document, minimum_score: float) -> Document:
        """The document without predictions of a lower score."""
        kept = [
            relation
            for relation in document.relations
            if relation.score is None or relation.score >= minimum_score
        ]
        return document.replace(relations=tuple(kept))


class MentionTask:
    """Mentions with their types; the methods are those of `RelationTask`."""

    def scores(
        self,
        gold: Sequence[Document],
        predicted: Iterable[Document],
        train_facts: TrainFacts = None,  # noqa: ARG002 - facts are made of relations
    ) -> dict[str, float]:
        found = entities.evaluate(gold, predicted)
        scores = {
            "f1": found.f1,
            "precision": found.precision,
            "recall": found.recall,
            "macro_f1": found.macro_f1,
            "boundary_f1": found.boundaries.f1,
        }
        return scores | {"nested_recall": found.nested.recall} if found.nested.gold else scores

    def measure(
        self,
        gold: Sequence[Document],
        predicted: Iterable[Document],
        train_facts: TrainFacts = None,  # noqa: ARG002 - as above
        samples: int = 2000,
    ) -> Measured:
        found = entities.evaluate(gold, predicted)
        summary = entity_report.summarise(found, samples)
        return Measured(
            numbers=entity_report.to_json(summary),
            tables=list(entity_report.tables(summary)),
            warnings=_warnings("mentions", found.mentions.gold, found.unknown_documents),
            confusion=found.confusion,
            scored=found.scored,
            gold=found.mentions.gold,
        )

    def measure_file(
        self,
        gold: Sequence[Document],
        path: Path,
        train_facts: TrainFacts = None,
        samples: int = 2000,
    ) -> Measured:
        return self.measure(gold, formats.read(path), train_facts, samples)

    def unlabelled(self, document: Document) -> Document:
        return document.without_mentions()

    def confident(self, document: Document, minimum_score: float) -> Document:
        kept = [
            mention
            for mention in document.mentions
            if mention.score is None or mention.score >= minimum_score
        ]
        return document.replace(mentions=tuple(kept))


Task = RelationTask | MentionTask
TASKS: dict[str, Task] = {"relations": RelationTask(), "mentions": MentionTask()}


def task_of_documents(gold: Iterable[Document]) -> Task:
    """What predictions can be measured on: relations where the gold has any, else mentions."""
    has_relations = any(document.relations for document in gold)
    return TASKS["relations" if has_relations else "mentions"]


def _warnings(what: str, gold: int, unknown_documents: int) -> list[str]:
    found = []
    if not gold:
        found.append(f"the gold documents have no {what}")
    if unknown_documents:
        found.append(
            f"predictions name documents that the gold does not have: {unknown_documents:,}"
        )
    return found
