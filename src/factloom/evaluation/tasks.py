"""What is measured, task by task: the numbers that training watches, and whole evaluations.

A model says by its attribute `task` what it finds: "relations" (between entities that are given),
"mentions", "entities" (of mentions that are given), or "end-to-end": everything, from the text
alone. A task asks the model about documents without the labels that it has to find, and compares
the answers with the gold:

    task = TASKS[model.task]
    task.scores(gold, task.ask(model, gold))
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from factloom import formats
from factloom.document import Document
from factloom.errors import ModelError
from factloom.evaluation import (
    coreference,
    coreference_report,
    end_to_end,
    end_to_end_report,
    entities,
    entity_report,
    plots,
    relations,
    report,
)
from factloom.evaluation.confusion import confusion_counts, largest_confusion
from factloom.evaluation.matching import with_gold_ids
from factloom.evaluation.relations import Fact, Prediction, predictions_of
from factloom.evaluation.submission import read_predictions

TrainFacts = AbstractSet[Fact] | None


@dataclass(frozen=True, slots=True)
class Answers:
    """What was predicted about gold documents."""

    documents: Sequence[Document]
    # The gold documents with the relations that the model finds between their own entities:
    # known only where the task is end-to-end and a model was asked.
    given_entities: Sequence[Document] | None = None


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

    def ask(self, model: Any, gold: Sequence[Document]) -> Answers:
        """What the model finds in the documents, of which it does not see the labels."""
        _require_task(model, "relations", "end-to-end")
        relate = model.relate if model.task == "end-to-end" else model.predict
        return Answers(relate([self.unlabelled(document) for document in gold]))

    def scores(
        self, gold: Sequence[Document], answers: Answers, train_facts: TrainFacts = None
    ) -> dict[str, float]:
        """The numbers that training watches and reports; Ign F1 where train facts are given."""
        found = relations.evaluate(gold, answers.documents, train_facts)
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
        answers: Answers,
        train_facts: TrainFacts = None,
        samples: int = 2000,
    ) -> Measured:
        """Everything about the answers, with `samples` draws for the intervals."""
        return self._measure(gold, predictions_of(answers.documents), train_facts, samples)

    def measure_file(
        self,
        gold: Sequence[Document],
        path: Path,
        train_facts: TrainFacts = None,
        samples: int = 2000,
        format: str | None = None,
    ) -> Measured:
        """The same about a file, or folder, of predictions; without `format` its content tells."""
        return self._measure(gold, read_predictions(path, format), train_facts, samples)

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

    def ask(self, model: Any, gold: Sequence[Document]) -> Answers:
        _require_task(model, "mentions", "end-to-end")
        return Answers(model.predict([self.unlabelled(document) for document in gold]))

    def scores(
        self,
        gold: Sequence[Document],
        answers: Answers,
        train_facts: TrainFacts = None,  # noqa: ARG002 - facts are made of relations
    ) -> dict[str, float]:
        found = entities.evaluate(gold, answers.documents)
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
        answers: Answers,
        train_facts: TrainFacts = None,  # noqa: ARG002 - as above
        samples: int = 2000,
    ) -> Measured:
        found = entities.evaluate(gold, answers.documents)
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
        format: str | None = None,
    ) -> Measured:
        return self.measure(gold, _read_answers(gold, path, format), train_facts, samples)

    def unlabelled(self, document: Document) -> Document:
        return document.without_mentions()

    def confident(self, document: Document, minimum_score: float) -> Document:
        kept = [
            mention
            for mention in document.mentions
            if mention.score is None or mention.score >= minimum_score
        ]
        return document.replace(mentions=tuple(kept))


class EntityTask:
    """The entities that given mentions make up; the methods are those of `RelationTask`."""

    def ask(self, model: Any, gold: Sequence[Document]) -> Answers:
        _require_task(model, "entities")
        return Answers(model.predict([self.unlabelled(document) for document in gold]))

    def scores(
        self,
        gold: Sequence[Document],
        answers: Answers,
        train_facts: TrainFacts = None,  # noqa: ARG002 - facts are about relations
    ) -> dict[str, float]:
        found = coreference.evaluate(gold, answers.documents)
        counts = found.entities
        shares = {"f1": counts.f1, "precision": counts.precision, "recall": counts.recall}
        return shares | {"conll_f1": found.conll_f1}

    def measure(
        self,
        gold: Sequence[Document],
        answers: Answers,
        train_facts: TrainFacts = None,  # noqa: ARG002
        samples: int = 2000,
    ) -> Measured:
        found = coreference.evaluate(gold, answers.documents)
        summary = coreference_report.summarise(found, samples)
        unknown = len(found.per_document) - len(gold)
        return Measured(
            numbers=coreference_report.to_json(summary),
            tables=list(coreference_report.tables(summary)),
            warnings=_warnings("entities", found.entities.gold, unknown),
            confusion=coreference.type_confusion(gold, answers.documents),
            scored=coreference.scored(gold, answers.documents),
            gold=found.entities.gold,
        )

    def measure_file(
        self,
        gold: Sequence[Document],
        path: Path,
        train_facts: TrainFacts = None,
        samples: int = 2000,
        format: str | None = None,
    ) -> Measured:
        return self.measure(gold, _read_answers(gold, path, format), train_facts, samples)

    def unlabelled(self, document: Document) -> Document:
        """The mentions are given."""
        return document.replace(entities=(), relations=(), candidates=None)

    def confident(self, document: Document, minimum_score: float) -> Document:  # noqa: ARG002
        """All entities stay: a mention whose entity were left out would have none."""
        return document


class EndToEndTask:
    """Everything from the text alone; the methods are those of `RelationTask`."""

    def ask(self, model: Any, gold: Sequence[Document]) -> Answers:
        _require_task(model, "end-to-end")
        found = model.predict([self.unlabelled(document) for document in gold])
        return Answers(found, RelationTask().ask(model, gold).documents)

    def scores(
        self, gold: Sequence[Document], answers: Answers, train_facts: TrainFacts = None
    ) -> dict[str, float]:
        found = end_to_end.evaluate(gold, answers.documents, train_facts, answers.given_entities)
        scores = {
            "f1": found.relations.f1,
            "precision": found.relations.precision,
            "recall": found.relations.recall,
            "mention_f1": found.mentions.f1,
            "entity_f1": found.coreference.entities.f1,
            "evidence_f1": found.relations.evidence_f1,
        }
        if found.given_entities is not None:
            scores["gold_entities_f1"] = found.given_entities.f1
        ign_f1 = found.relations.ign_f1
        return scores if ign_f1 is None else scores | {"ign_f1": ign_f1}

    def measure(
        self,
        gold: Sequence[Document],
        answers: Answers,
        train_facts: TrainFacts = None,
        samples: int = 2000,
    ) -> Measured:
        found = end_to_end.evaluate(gold, answers.documents, train_facts, answers.given_entities)
        summary = end_to_end_report.summarise(found, samples)
        distinct = (judgement.prediction for judgement in found.relations.judgements)
        return Measured(
            numbers=end_to_end_report.to_json(summary),
            tables=list(end_to_end_report.tables(summary)),
            warnings=_warnings(
                "relations", found.relations.relations.gold, found.unknown_documents
            ),
            confusion=confusion_counts(gold, distinct),
            scored=found.relations.scored,
            gold=found.relations.relations.gold,
        )

    def measure_file(
        self,
        gold: Sequence[Document],
        path: Path,
        train_facts: TrainFacts = None,
        samples: int = 2000,
        format: str | None = None,
    ) -> Measured:
        return self.measure(gold, _read_answers(gold, path, format), train_facts, samples)

    def unlabelled(self, document: Document) -> Document:
        """The bare text: sentences and tokens too are for the model to find."""
        return document.without_mentions().replace(sentences=())

    def confident(self, document: Document, minimum_score: float) -> Document:
        """The mentions stay: entities and relations are made of them."""
        return RelationTask().confident(document, minimum_score)


Task = RelationTask | MentionTask | EntityTask | EndToEndTask
TASKS: dict[str, Task] = {
    "relations": RelationTask(),
    "mentions": MentionTask(),
    "entities": EntityTask(),
    "end-to-end": EndToEndTask(),
}


def task_of_documents(gold: Iterable[Document]) -> Task:
    """What predictions can be measured on: relations where the gold has any, else mentions."""
    has_relations = any(document.relations for document in gold)
    return TASKS["relations" if has_relations else "mentions"]


def _read_answers(gold: Sequence[Document], path: Path, format: str | None) -> Answers:
    """What a file says about the gold documents, matched by their ids, else by their order."""
    return Answers(with_gold_ids(gold, list(formats.read(path, format)), str(path)))


def _require_task(model: Any, *tasks: str) -> None:
    """The first of `tasks` is what is measured; the others give that too."""
    if model.task not in tasks:
        raise ModelError("cannot-measure", model=model.task, task=tasks[0])


def _warnings(what: str, gold: int, unknown_documents: int) -> list[str]:
    found = []
    if not gold:
        found.append(f"the gold documents have no {what}")
    if unknown_documents:
        found.append(
            f"predictions name documents that the gold does not have: {unknown_documents:,}"
        )
    return found
