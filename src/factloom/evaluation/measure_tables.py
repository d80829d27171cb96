"""Counts and measures as table rows and as JSON: what the reports of all tasks share."""

from collections.abc import Mapping

from rich.table import Table

from factloom.evaluation.bootstrap import Interval
from factloom.evaluation.relations import Counts


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def percent_range(interval: Interval | None) -> str:
    return "" if interval is None else f"{percent(interval[0])} – {percent(interval[1])}"


def counts_to_json(counts: Counts) -> dict[str, float]:
    return {
        "support": counts.gold,
        "predicted": counts.predicted,
        "correct": counts.correct,
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
    }


def measures_table(title: str) -> Table:
    """Without rows; `add_measure` adds them."""
    table = Table(title=title)
    for heading in ("measure", "F1", "95 % interval", "precision", "recall"):
        table.add_column(heading, justify="left" if heading == "measure" else "right")
    return table


def add_measure(table: Table, name: str, counts: Counts, interval: Interval | None = None) -> None:
    shares = (percent(counts.precision), percent(counts.recall))
    table.add_row(name, percent(counts.f1), percent_range(interval), *shares)


def label_table(kind: str, counts_of: Mapping[str, Counts], limit: int) -> Table:
    """The counts and measures of the first `limit` labels."""
    table = Table()
    for heading in (kind, "gold", "predicted", "correct", "precision", "recall", "F1"):
        table.add_column(heading, justify="left" if heading == kind else "right")
    for name, counts in list(counts_of.items())[:limit]:
        numbers = (counts.gold, counts.predicted, counts.correct)
        shares = (counts.precision, counts.recall, counts.f1)
        table.add_row(name, *(f"{number:,}" for number in numbers), *map(percent, shares))
    hidden = len(counts_of) - limit
    if hidden > 0:
        table.caption = f"and {hidden} rarer ones: --json shows all"
    return table
