"""An evaluation of entities as tables for the terminal and as a JSON object."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from factloom.evaluation.bootstrap import Interval, f1_interval
from factloom.evaluation.coreference import Agreement, CoreferenceReport
from factloom.evaluation.measure_tables import (
    add_measure,
    counts_to_json,
    measures_table,
    percent,
)

MEASURE_NAMES = {"muc": "MUC", "b_cubed": "B-cubed", "ceaf_e": "CEAF-e", "lea": "LEA"}


@dataclass(frozen=True, slots=True)
class CoreferenceSummary:
    """A report with how sure its main number is."""

    report: CoreferenceReport
    interval: Interval | None


def summarise(found: CoreferenceReport, samples: int = 2000, seed: int = 0) -> CoreferenceSummary:
    """Add the bootstrap interval (none for 0 samples)."""
    return CoreferenceSummary(found, f1_interval(found.per_document.values(), samples, seed))


def to_json(summary: CoreferenceSummary) -> dict[str, Any]:
    """All measures as fractions from 0 to 1."""
    found = summary.report
    return {
        "f1": found.entities.f1,
        "precision": found.entities.precision,
        "recall": found.entities.recall,
        "f1_interval": None if summary.interval is None else list(summary.interval),
        "typed_f1": found.typed_entities.f1,
        "conll_f1": found.conll_f1,
        **{f"{name}_f1": measure.f1 for name, measure in found.measures.items()},
        "documents": len(found.per_document),
        "entities": counts_to_json(found.entities),
    }


def tables(summary: CoreferenceSummary) -> Iterator[Table]:
    found = summary.report
    counts = found.entities
    numbers = f"{counts.gold:,} gold, {counts.predicted:,} predicted, {counts.correct:,} correct"
    table = measures_table(f"entities: {numbers}")
    add_entities(table, found, summary.interval)
    yield table


def add_entities(table: Table, found: CoreferenceReport, interval: Interval | None) -> None:
    add_measure(table, "entities: exactly these mentions", found.entities, interval)
    add_measure(table, "  and the same type", found.typed_entities)
    for name, measure in found.measures.items():
        _add_agreement(table, f"  {MEASURE_NAMES[name]}", measure)
    table.add_row("  mean of MUC, B-cubed, CEAF-e", percent(found.conll_f1))


def _add_agreement(table: Table, name: str, measure: Agreement) -> None:
    table.add_row(
        name, percent(measure.f1), "", percent(measure.precision), percent(measure.recall)
    )
