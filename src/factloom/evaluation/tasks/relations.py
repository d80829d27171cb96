"""Relations between the entities of a document."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from factloom.document import Document
from factloom.evaluation import relations
from factloom.evaluation.bootstrap import f1_interval, ignoring_f1_interval
from factloom.evaluation.confusion import confusion_counts
from factloom.evaluation.plots import Picture
from factloom.evaluation.relations import RelationReport
from factloom.evaluation.report import Report, Row, calibration_error, each, percent, whole
from factloom.evaluation.submission import SUBMISSION, is_submission, read_submission
from factloom.evaluation.task import Answers, Task, TrainFacts, read_documents, same_keys
from factloom.files.source import Source
from factloom.reasoning_patterns import in_letters


def _read(gold: Sequence[Document], path: Path, format: str | None) -> Answers:
    """A submission has no documents: its predictions stand beside."""
    source = Source(path)
    if format == SUBMISSION or (format is None and is_submission(source)):
        return Answers((), list(read_submission(source)))
    return read_documents(gold, path, format)


def _compare(gold: Sequence[Document], answers: Answers, facts: TrainFacts) -> RelationReport:
    if answers.beside is not None:
        return relations.evaluate_predictions(gold, answers.beside, facts)
    return relations.evaluate(gold, answers.documents, facts)


def _report(found: RelationReport, samples: int) -> Report:
    counts, error = found.relations, calibration_error(found.scored, found.relations.gold)
    macro = found.macro_f1 if counts.gold else None
    patterns = (
        Row.of(f"    pattern {pattern}: {in_letters(pattern)}", derivable)
        for pattern, derivable in found.per_pattern.items()
    )
    return Report(
        documents=found.documents,
        unknown_documents=found.unknown_documents,
        found={"relations": counts},
        rows=[
            relation_row("relations", found, samples, whole()),
            ignoring_row(found, samples, {"ign_f1": "f1", "ign_f1_interval": "interval"}),
            Row.of("  within a sentence (intra)", found.intra, {"intra_f1": "f1"}),
            Row.of("  across sentences (inter)", found.inter, {"inter_f1": "f1"}),
            Row.of(
                "  derivable through a bridge (infer)",
                found.inferable,
                {"infer_f1": "f1", "infer_accuracy": "recall"},
            ),
            *patterns,
            Row.of("evidence", found.evidence, whole("evidence_", interval=False)),
            Row.of("  where it is known", found.known_evidence, {"known_evidence_f1": "f1"}),
            Row("mean over relation types (macro)", macro, keys={"macro_f1": "f1"}),
        ],
        others={
            "expected_calibration_error": error,
            "gold_relations": counts.gold,
            "predicted_relations": counts.predicted,
            "correct_relations": counts.correct,
            "per_pattern": each(found.per_pattern),
        },
        caption=None if error is None else f"expected calibration error {percent(error)}",
        labels={"relation": found.per_relation},
    )


def relation_row(
    name: str, found: RelationReport | None, samples: int, keys: Mapping[str, str]
) -> Row:
    if found is None:
        return Row(name, keys=keys)
    per_document = (one.relations for one in found.per_document.values())
    return Row.of(name, found.relations, keys, f1_interval(per_document, samples))


def ignoring_row(found: RelationReport | None, samples: int, keys: Mapping[str, str]) -> Row:
    name = "  not seen in training (Ign F1)"
    if found is None or found.ign_f1 is None or not found.relations.gold:
        return Row(name, keys=keys)
    interval = ignoring_f1_interval(found.per_document.values(), samples)
    return Row(name, found.ign_f1, interval, keys=keys)


def picture(gold: Sequence[Document], found: RelationReport) -> Picture:
    distinct = (judgement.prediction for judgement in found.judgements)
    return Picture(confusion_counts(gold, distinct), found.scored, found.relations.gold)


TASK = Task(
    name="relations",
    finds="relations",
    unlabelled=lambda document: document.without_relations(),
    asked={
        "relations": lambda model, documents: model.predict(documents),
        "end-to-end": lambda model, documents: model.relate(documents),
    },
    read=_read,
    compare=_compare,
    report=_report,
    watched=same_keys(
        "intra_f1", "inter_f1", "evidence_f1", "infer_f1", "infer_accuracy", "ign_f1"
    ),
    picture=lambda gold, _, found: picture(gold, found),
    optional="relations",
)
