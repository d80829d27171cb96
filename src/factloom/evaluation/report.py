"""An evaluation as tables for the terminal and as a JSON object."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from factloom.evaluation.bootstrap import Interval, Intervals, intervals
from factloom.evaluation.calibration import expected_calibration_error
from factloom.evaluation.measure_tables import (
    add_measure,
    counts_to_json,
    label_table,
    measures_table,
    percent,
    percent_range,
)
from factloom.evaluation.relations import Counts, RelationReport
from factloom.reasoning_patterns import in_letters


@dataclass(frozen=True, slots=True)
class Summary:
    """A report with what is computed from it: how sure the scores are, and how honest."""

    report: RelationReport
    intervals: Intervals | None
    expected_calibration_error: float | None  # None where the predictions have no scores


def summarise(report: RelationReport, samples: int = 2000, seed: int = 0) -> Summary:
    """Add bootstrap intervals (none for 0 samples) and the calibration error."""
    scores, correct = report.scored
    error = expected_calibration_error(scores, correct) if scores else None
    return Summary(report, intervals(report, samples, seed), error)


def to_json(summary: Summary) -> dict[str, Any]:
    """All measures as fractions from 0 to 1; what is not known is `None`."""
    report = summary.report
    known = summary.intervals
    return {
        "f1": report.f1,
        "ign_f1": report.ign_f1,
        "precision": report.precision,
        "recall": report.recall,
        "intra_f1": report.intra_f1,
        "inter_f1": report.inter_f1,
        "infer_f1": report.infer_f1,
        "infer_accuracy": report.infer_accuracy,
        "evidence_f1": report.evidence.f1,
        "evidence_precision": report.evidence.precision,
        "evidence_recall": report.evidence.recall,
        "f1_interval": _as_list(known.f1 if known else None),
        "ign_f1_interval": _as_list(known.ign_f1 if known else None),
        "macro_f1": report.macro_f1,
        "expected_calibration_error": summary.expected_calibration_error,
        "documents": report.documents,
        "unknown_documents": report.unknown_documents,
        "gold_relations": report.relations.gold,
        "predicted_relations": report.relations.predicted,
        "correct_relations": report.relations.correct,
        "per_pattern": {
            str(pattern): counts_to_json(counts) for pattern, counts in report.per_pattern.items()
        },
        "per_relation": {
            name: counts_to_json(counts) for name, counts in report.per_relation.items()
        },
    }


def tables(summary: Summary, relations: int = 20) -> Iterator[Table]:
    """The measures, then the `relations` most frequent relation types."""
    yield _measures(summary)
    yield label_table("relation", summary.report.per_relation, relations)


def _measures(summary: Summary) -> Table:
    report, known = summary.report, summary.intervals
    table = measures_table(_title(report))

    def add(name: str, counts: Counts, interval: Interval | None = None) -> None:
        add_measure(table, name, counts, interval)

    add("relations", report.relations, known.f1 if known else None)
    if report.ign_f1 is not None:
        interval = known.ign_f1 if known else None
        table.add_row(
            "  not seen in training (Ign F1)", percent(report.ign_f1), percent_range(interval)
        )
    add("  within a sentence (intra)", report.intra)
    add("  across sentences (inter)", report.inter)
    if report.inferable.gold:
        add("  derivable through a bridge (infer)", report.inferable)
        for pattern, counts in report.per_pattern.items():
            add(f"    pattern {pattern}: {in_letters(pattern)}", counts)
    add("evidence", report.evidence)
    table.add_row("mean over relation types (macro)", percent(report.macro_f1))
    if summary.expected_calibration_error is not None:
        table.caption = f"expected calibration error {percent(summary.expected_calibration_error)}"
    return table


def _title(report: RelationReport) -> str:
    counts = report.relations
    return (
        f"documents: {report.documents:,}; relations: {counts.gold:,} gold, "
        f"{counts.predicted:,} predicted, {counts.correct:,} correct"
    )


def _as_list(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)
