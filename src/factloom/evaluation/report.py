"""An evaluation as tables for the terminal and as a JSON object, whatever was measured.

A task gives `Row`s: each is a line of the table of measures, and says under which keys its cells
stand in JSON. Measures are fractions from 0 to 1 in JSON and percent in the tables. What is not
known is `None` in JSON and an empty cell; a row of which nothing is known is not shown. Nothing is
known of that of which the gold has none: there was nothing to be found, well or badly.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rich.table import Table

from factloom.evaluation.bootstrap import Interval
from factloom.evaluation.plots import Scored
from factloom.evaluation.relations import Counts
from factloom.modules.calibration import expected_calibration_error

LABELS_SHOWN = 20


class Measure(Protocol):
    """Whatever has precision, recall and F1."""

    @property
    def gold(self) -> float: ...  # how much there was to be found
    @property
    def f1(self) -> float: ...
    @property
    def precision(self) -> float: ...
    @property
    def recall(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Row:
    """Measures of one kind."""

    name: str
    f1: float | None = None
    interval: Interval | None = None
    precision: float | None = None
    recall: float | None = None
    keys: Mapping[str, str] = field(default_factory=dict)  # those of JSON: which cell each holds
    shown: bool = True  # in the table

    @classmethod
    def of(
        cls,
        name: str,
        measure: Measure | None,
        keys: Mapping[str, str] | None = None,
        interval: Interval | None = None,
    ) -> "Row":
        """All that is known: `Row.of("evidence", counts, {"evidence_f1": "f1"})`."""
        if measure is None or not measure.gold:
            return cls(name, keys=keys or {})
        return cls(name, measure.f1, interval, measure.precision, measure.recall, keys or {})

    @property
    def cells(self) -> tuple[str, ...]:
        """F1, its interval, precision and recall as they are shown."""
        between = "" if self.interval is None else " – ".join(map(percent, self.interval))
        return percent(self.f1), between, percent(self.precision), percent(self.recall)

    @property
    def numbers(self) -> dict[str, Any]:
        """For JSON, which has lists for tuples."""
        interval = None if self.interval is None else list(self.interval)
        return {
            key: interval if cell == "interval" else getattr(self, cell)
            for key, cell in self.keys.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a task has measured, ready to be shown."""

    documents: int  # in the gold
    unknown_documents: int  # with predictions, but not in the gold
    found: Mapping[str, Counts]  # what there was to be found; the last of them is the aim
    rows: Sequence[Row]
    others: Mapping[str, Any]  # what else stands in JSON
    caption: str | None = None
    # A table each: counts, and measures that have neither precision nor recall, in words.
    tallies: Mapping[str, Mapping[str, int | str]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, Counts]] = field(default_factory=dict)  # a table each

    @property
    def gold(self) -> int:
        """How many there were to be found."""
        return list(self.found.values())[-1].gold

    @property
    def numbers(self) -> dict[str, Any]:
        """All of it as a JSON object."""
        measured = {key: value for row in self.rows for key, value in row.numbers.items()}
        documents = {"documents": self.documents, "unknown_documents": self.unknown_documents}
        labels = {f"per_{kind}": each(counts_of) for kind, counts_of in self.labels.items()}
        return {**measured, **documents, **self.others, **labels}

    def tables(self, labels: int = LABELS_SHOWN) -> Iterator[Table]:
        """The measures, what was counted, and of each kind of label the `labels` first."""
        headings = ("measure", "F1", "95 % interval", "precision", "recall")
        lines = ((row.name, *row.cells) for row in self.rows if row.shown and any(row.cells))
        yield _table(headings, lines, self._title(), self.caption)
        for heading, tally in self.tallies.items():
            counted = all(isinstance(value, int) for value in tally.values())
            shown = ((name, n if isinstance(n, str) else f"{n:,}") for name, n in tally.items())
            yield _table((heading, "count" if counted else "value"), shown)
        for kind, counts_of in self.labels.items():
            yield _label_table(kind, counts_of, labels)

    def _title(self) -> str:
        counted = [f"documents: {self.documents:,}"]
        for name, counts in self.found.items():
            numbers = f"{counts.gold:,} gold, {counts.predicted:,} predicted"
            counted.append(f"{name}: {numbers}, {counts.correct:,} correct")
        return ("; " if len(self.found) == 1 else "\n").join(counted)


def whole(prefix: str = "", *, interval: bool = True) -> dict[str, str]:
    """The keys of F1, precision, recall and the interval of F1, with a prefix as in "mention_"."""
    keys = {f"{prefix}{cell}": cell for cell in ("f1", "precision", "recall")}
    return keys | {f"{prefix}f1_interval": "interval"} if interval else keys


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def each(counts_of: Mapping[Any, Counts]) -> dict[str, dict[str, Any]]:
    """The counts and measures of every label for JSON."""
    return {str(name): counts_and_measures(counts) for name, counts in counts_of.items()}


def counts_and_measures(counts: Counts) -> dict[str, Any]:
    numbers = {"support": counts.gold, "predicted": counts.predicted, "correct": counts.correct}
    return numbers | Row.of("", counts, whole(interval=False)).numbers


def calibration_error(scored: Scored, gold: int) -> float | None:
    """How far scores are off; `None` where there are no scores, or nothing was to be found."""
    scores, correct = scored
    return expected_calibration_error(scores, correct) if scores and gold else None


def _label_table(kind: str, counts_of: Mapping[str, Counts], limit: int) -> Table:
    """The counts and measures of the first `limit` labels."""
    lines = []
    for name, counts in itertools.islice(counts_of.items(), limit):
        numbers = (f"{number:,}" for number in (counts.gold, counts.predicted, counts.correct))
        f1, _, precision, recall = Row.of(name, counts).cells
        lines.append((name, *numbers, precision, recall, f1))
    hidden = len(counts_of) - limit
    caption = f"and {hidden} rarer ones: --json shows all" if hidden > 0 else None
    headings = (kind, "gold", "predicted", "correct", "precision", "recall", "F1")
    return _table(headings, lines, caption=caption)


def _table(
    headings: Sequence[str],
    lines: Iterable[Sequence[str]],
    title: str | None = None,
    caption: str | None = None,
) -> Table:
    table = Table(title=title, caption=caption)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == headings[0] else "right")
    for line in lines:
        table.add_row(*line)
    return table
