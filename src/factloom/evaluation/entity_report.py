"""An evaluation of mentions as tables for the terminal and as a JSON object."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from factloom.evaluation.bootstrap import Interval, f1_interval
from factloom.evaluation.calibration import expected_calibration_error
from factloom.evaluation.entities import EntityReport, Found
from factloom.evaluation.measure_tables import (
    add_measure,
    counts_to_json,
    label_table,
    measures_table,
    percent,
)

_EXPLAINED = {
    "type": "right words, wrong type",
    "boundary": "right type, wrong words",
    "both": "overlaps, words and type wrong",
    "spurious": "nothing there",
}


@dataclass(frozen=True, slots=True)
class EntitySummary:
    """A report with what is computed from it: how sure F1 is, and how honest the scores."""

    report: EntityReport
    f1_interval: Interval | None
    expected_calibration_error: float | None  # None where the predictions have no scores


def summarise(report: EntityReport, samples: int = 2000, seed: int = 0) -> EntitySummary:
    """Add the bootstrap interval (none for 0 samples) and the calibration error."""
    scores, correct = report.scored
    error = expected_calibration_error(scores, correct) if scores else None
    return EntitySummary(report, f1_interval(report.per_document.values(), samples, seed), error)


def to_json(summary: EntitySummary) -> dict[str, Any]:
    """All measures as fractions from 0 to 1; what is not known is `None`."""
    report, interval = summary.report, summary.f1_interval
    return {
        "f1": report.f1,
        "precision": report.precision,
        "recall": report.recall,
        "macro_f1": report.macro_f1,
        "boundary_f1": report.boundaries.f1,
        "f1_interval": None if interval is None else list(interval),
        "flat_recall": report.flat.recall if report.flat.gold else None,
        "nested_recall": report.nested.recall if report.nested.gold else None,
        "inner_recall": report.inner.recall if report.inner.gold else None,
        "expected_calibration_error": summary.expected_calibration_error,
        "errors": {**report.errors, "missed": report.missed},
        "documents": report.documents,
        "unknown_documents": report.unknown_documents,
        "gold_mentions": report.mentions.gold,
        "nested_mentions": report.nested.gold,
        "predicted_mentions": report.mentions.predicted,
        "correct_mentions": report.mentions.correct,
        "per_type": {name: counts_to_json(counts) for name, counts in report.per_type.items()},
    }


def tables(summary: EntitySummary, types: int = 20) -> Iterator[Table]:
    """The measures, the wrong mentions by reason, and the `types` most frequent types."""
    yield _measures(summary)
    yield _errors(summary.report)
    yield label_table("type", summary.report.per_type, types)


def _measures(summary: EntitySummary) -> Table:
    report = summary.report
    table = measures_table(_title(report))

    def add_found(name: str, found: Found) -> None:
        table.add_row(f"{name}: {found.gold:,}", "", "", "", percent(found.recall))

    add_measure(table, "mentions", report.mentions, summary.f1_interval)
    add_measure(table, "  words only (boundaries)", report.boundaries)
    if report.nested.gold:
        add_found("  flat", report.flat)
        add_found("  nested or overlapping", report.nested)
        add_found("    inside a longer one", report.inner)
    table.add_row("mean over types (macro)", percent(report.macro_f1))
    if summary.expected_calibration_error is not None:
        table.caption = f"expected calibration error {percent(summary.expected_calibration_error)}"
    return table


def _title(report: EntityReport) -> str:
    counts = report.mentions
    return (
        f"documents: {report.documents:,}; mentions: {counts.gold:,} gold, "
        f"{counts.predicted:,} predicted, {counts.correct:,} correct"
    )


def _errors(report: EntityReport) -> Table:
    table = Table()
    table.add_column("wrong mentions")
    table.add_column("count", justify="right")
    for reason, count in report.errors.items():
        table.add_row(f"{reason}: {_EXPLAINED[reason]}", f"{count:,}")
    table.add_row("missed: gold without any prediction near", f"{report.missed:,}")
    return table
