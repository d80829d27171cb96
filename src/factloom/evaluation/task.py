"""How something is asked of a model, and how its answers are measured: the same for all tasks."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from rich.table import Table

from factloom import formats
from factloom.document import Document, Question
from factloom.errors import ModelError
from factloom.evaluation.matching import with_gold_ids
from factloom.evaluation.plots import Picture
from factloom.evaluation.relations import Fact
from factloom.evaluation.report import Report

TrainFacts = AbstractSet[Fact] | None
MAIN = ("f1", "precision", "recall")
Found = TypeVar("Found")  # every count that the measures of a task need


@dataclass(frozen=True, slots=True)
class Answers:
    """What was predicted about gold documents."""

    documents: Sequence[Document]
    beside: Any = None  # what has no place in them: each task knows its own


@dataclass(frozen=True, slots=True)
class Measured:
    """An evaluation as `factloom evaluate` shows it."""

    numbers: Mapping[str, Any]  # for JSON
    tables: Sequence[Table]
    warnings: Sequence[str]  # what makes scores low for a reason that is not the model's
    picture: Picture | None  # where the task has one


def read_documents(gold: Sequence[Document], path: Path, format: str | None) -> Answers:
    """What a file says about the gold documents, matched by their ids, else by their order."""
    return Answers(with_gold_ids(gold, list(formats.read(path, format)), str(path)))


def _named(gold: Sequence[Document], answers: Answers) -> tuple[list[Document], Answers]:
    """Both without pronouns and nominals."""
    named = [document.named() for document in answers.documents]
    return [document.named() for document in gold], Answers(named, answers.beside)


def same_keys(*names: str) -> dict[str, str]:
    """F1, precision, recall and these scores, called in training as in JSON."""
    return {name: name for name in (*MAIN, *names)}


def _confident(found: Iterable[Any], minimum_score: float) -> tuple[Any, ...]:
    return tuple(one for one in found if one.score is None or one.score >= minimum_score)


def _sure(question: Question, minimum_score: float) -> Question:
    """Without an answer nothing has to be proved."""
    answers = question.answers and _confident(question.answers, minimum_score)
    evidence = question.evidence if answers else ()
    return dataclasses.replace(question, answers=answers, evidence=evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Generic[Found]):
    """What differs from task to task; the methods are the same for all.

    Names are measured: pronouns and nominals are neither shown nor compared.
    """

    name: str  # of the attribute `task` of models that are made for it
    finds: str  # what there is to be found in the gold, for people
    # The document without what a model has to find.
    unlabelled: Callable[[Document], Document]
    # By the tasks of the models that can be asked: what such a model makes of documents.
    asked: Mapping[str, Callable[[Any, list[Document]], Sequence[Document]]]
    # What else it is asked about the gold, which it must not see the labels of: `Answers.beside`.
    asked_beside: Callable[[Any, Sequence[Document]], Any] | None = None
    # A file of predictions; without format its content tells what it is.
    read: Callable[[Sequence[Document], Path, str | None], Answers] = read_documents
    compare: Callable[[Sequence[Document], Answers, TrainFacts], Found]
    # What pronouns and nominals stand for, of whole documents; before the report is made.
    compare_references: Callable[[Found, Sequence[Document], Answers], Found] | None = None
    # Tables and JSON, with so many draws for the intervals.
    report: Callable[[Found, int], Report]
    # The scores that training watches, and their keys in JSON.
    watched: Mapping[str, str]
    picture: Callable[[Sequence[Document], Answers, Found], Picture] | None = None
    # What may be missing from a document whose rest still makes sense: it can be left out where
    # its score is low.
    optional: Literal["mentions", "relations", "answers"] | None = None

    def ask(self, model: Any, gold: Sequence[Document]) -> Answers:
        """What the model finds in the documents, of which it does not see the labels."""
        if model.task not in self.asked:
            raise ModelError("cannot-measure", model=model.task, task=self.name)
        gold = [document.named() for document in gold]
        found = self.asked[model.task](model, [self.unlabelled(document) for document in gold])
        return Answers(found, self.asked_beside(model, gold) if self.asked_beside else None)

    def scores(
        self, gold: Sequence[Document], answers: Answers, train_facts: TrainFacts = None
    ) -> dict[str, float]:
        """The numbers that training watches and reports; Ign F1 where train facts are given."""
        numbers = self.report(self._compared(gold, answers, train_facts), 0).numbers
        known = {name: numbers[key] for name, key in self.watched.items()}
        # Even of nothing one model has to be the best.
        known |= {name: known[name] or 0.0 for name in MAIN if name in known}
        return {name: score for name, score in known.items() if score is not None}

    def measure(
        self,
        gold: Sequence[Document],
        answers: Answers,
        train_facts: TrainFacts = None,
        samples: int = 2000,
    ) -> Measured:
        """Everything about the answers, with `samples` draws for the intervals."""
        found = self._compared(gold, answers, train_facts)
        report = self.report(found, samples)
        picture = self.picture(*_named(gold, answers), found) if self.picture else None
        return Measured(report.numbers, list(report.tables()), self._warnings(report), picture)

    def measure_file(
        self,
        gold: Sequence[Document],
        path: Path,
        train_facts: TrainFacts = None,
        samples: int = 2000,
        format: str | None = None,
    ) -> Measured:
        """The measures of a file, or folder, of predictions; without `format` its content tells."""
        return self.measure(gold, self.read(gold, path, format), train_facts, samples)

    def confident(self, document: Document, minimum_score: float) -> Document:
        """The document without predictions of a lower score."""
        if self.optional is None:
            return document
        if self.optional == "answers":
            sure = partial(_sure, minimum_score=minimum_score)
            return document.replace(questions=tuple(map(sure, document.questions)))
        kept = _confident(getattr(document, self.optional), minimum_score)
        return document.replace(**{self.optional: kept})

    def _compared(
        self, gold: Sequence[Document], answers: Answers, train_facts: TrainFacts
    ) -> Found:
        found = self.compare(*_named(gold, answers), train_facts)
        whole = self.compare_references
        return found if whole is None else whole(found, gold, answers)

    def _warnings(self, report: Report) -> list[str]:
        found = [] if report.gold else [f"the gold documents have no {self.finds}"]
        if report.unknown_documents:
            count = f"{report.unknown_documents:,}"
            found.append(f"predictions name documents that the gold does not have: {count}")
        return found
