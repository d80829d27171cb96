"""What a training tells about itself while it runs.

A progress bar on a terminal, plain lines elsewhere, TensorBoard events, curves.png, and
`metrics.jsonl`, which is the record from which the curves are drawn. It has two kinds of lines:

    {"step": 120, "epoch": 1, "loss": 0.41, "learning_rate": 5e-05, "gradient_norm": 0.8,
     "documents_per_second": 11.2, "tokens_per_second": 2310}
    {"step": 248, "epoch": 1, "validation": {"f1": 0.41}, "best": true, "seconds": 31.0}
"""

import json
import os
import time
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from factloom.training.checkpoint import write_file
from factloom.training.curves import draw_curves
from factloom.training.progress import duration

SECONDS_BETWEEN_DRAWINGS = 10.0  # drawing takes a good part of a second
STEPS_OF_BAR = 50  # the bar shows the mean of the last steps


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step."""

    step: int  # from 1, as the epoch
    epoch: int
    loss: float
    learning_rate: float  # the highest of all parameter groups
    gradient_norm: float  # before clipping
    documents: int
    tokens: int
    seconds: float

    def record(self) -> dict[str, float]:
        """The step as it stands in metrics.jsonl."""
        return {
            "step": self.step,
            "epoch": self.epoch,
            "loss": self.loss,
            "learning_rate": self.learning_rate,
            "gradient_norm": self.gradient_norm,
            "documents_per_second": round(self.documents / max(self.seconds, 1e-9), 2),
            "tokens_per_second": round(self.tokens / max(self.seconds, 1e-9)),
        }


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """One validation."""

    step: int
    epoch: int
    scores: Mapping[str, float]
    best: bool  # the best so far
    seconds: float

    def record(self) -> dict[str, Any]:
        """The validation as it stands in metrics.jsonl."""
        return {
            "step": self.step,
            "epoch": self.epoch,
            "validation": dict(self.scores),
            "best": self.best,
            "seconds": round(self.seconds, 1),
        }

    def __str__(self) -> str:
        scores = " ".join(f"{name} {score:.4f}" for name, score in self.scores.items())
        best = " (best)" if self.best else ""
        return f"epoch {self.epoch} step {self.step} validation: {scores}{best}"


class Display(Protocol):
    """How the state of a training is shown."""

    def begin(self, done: int) -> None:
        """Training goes on behind step `done`."""

    def step(self, report: StepReport, score: str) -> None:
        """Show a step, and the last validation score."""

    def message(self, text: str) -> None:
        """Show a line of its own."""

    def close(self) -> None:
        """Leave the console as it was."""


class Reporter:
    """Writes the files of a training and feeds its display."""

    def __init__(self, output: Path, metric: str, display: Display) -> None:
        self.output, self.metric, self.display = output, metric, display
        self.metrics: TextIO | None = None
        self.tensorboard: Any = None
        self.last_drawing = -SECONDS_BETWEEN_DRAWINGS
        self.can_draw = True
        self.score = ""

    def begin(self, done: int) -> None:
        """Write on behind step `done`; what an interrupted run wrote after it is cut off."""
        path = self.output / "metrics.jsonl"
        if path.exists():
            write_file(path, _records_until(path, done))
        self.metrics = path.open("a", encoding="utf-8")
        self.tensorboard = self._open_tensorboard(done)
        self.display.begin(done)

    def step(self, report: StepReport) -> None:
        self._record(report.record())
        self._chart("training", report.step, report.record())
        self.display.step(report, self.score)

    def validation(self, report: ValidationReport) -> None:
        self._record(report.record())
        self._chart("validation", report.step, report.scores)
        self.score = f"{self.metric} {report.scores[self.metric]:.4f}"
        self.display.message(str(report))

    def draw_now_and_then(self) -> None:
        if time.monotonic() - self.last_drawing >= SECONDS_BETWEEN_DRAWINGS:
            self._draw()

    def end(self, result: str) -> None:
        self._draw()
        self.display.message(result)

    def message(self, text: str) -> None:
        self.display.message(text)

    def flush(self) -> None:
        """Bring metrics.jsonl to the disk: before a checkpoint, which counts on its lines."""
        if self.metrics is not None:
            self.metrics.flush()
            os.fsync(self.metrics.fileno())

    def close(self) -> None:
        self.display.close()
        for file in (self.metrics, self.tensorboard):
            if file is not None:
                file.close()

    def _record(self, values: Mapping[str, Any]) -> None:
        if self.metrics is not None:
            self.metrics.write(json.dumps(values) + "\n")

    def _chart(self, group: str, step: int, values: Mapping[str, float]) -> None:
        if self.tensorboard is not None:
            for name in values.keys() - {"step"}:
                self.tensorboard.add_scalar(f"{group}/{name}", values[name], step)

    def _open_tensorboard(self, done: int) -> Any:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            self.message("no TensorBoard events: install factloom[tensorboard] to have them")
            return None
        return SummaryWriter(str(self.output / "tensorboard"), purge_step=done + 1)

    def _draw(self) -> None:
        if not self.can_draw:
            return
        self.flush()
        self.last_drawing = time.monotonic()
        try:
            draw_curves(self.output / "metrics.jsonl", self.output / "curves.png", self.metric)
        except ImportError:
            self.message("no curves.png: install factloom[plots] to have it")
            self.can_draw = False


class SilentReporter:
    """The reporter of all processes but the first."""

    def begin(self, done: int) -> None: ...
    def step(self, report: StepReport) -> None: ...
    def validation(self, report: ValidationReport) -> None: ...
    def draw_now_and_then(self) -> None: ...
    def end(self, result: str) -> None: ...
    def message(self, text: str) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class BarDisplay:
    """A progress bar for people."""

    def __init__(self, console: Console, total: int, epochs: int) -> None:
        self.epochs = epochs
        self.recent: deque[StepReport] = deque(maxlen=STEPS_OF_BAR)
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total} steps"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[values]}"),
            console=console,
        )
        self.task = self.bar.add_task("training", total=total, values="")

    def begin(self, done: int) -> None:
        self.bar.start()
        self.bar.update(self.task, completed=done)

    def step(self, report: StepReport, score: str) -> None:
        self.recent.append(report)
        title = f"epoch {report.epoch}/{self.epochs}"
        values = f"{_mean_values(self.recent)} {score}"
        self.bar.update(self.task, completed=report.step, description=title, values=values)

    def message(self, text: str) -> None:
        self.bar.console.print(text, highlight=False, markup=False)

    def close(self) -> None:
        self.bar.stop()


class LineDisplay:
    """A plain line every so many steps, for log files."""

    def __init__(self, console: Console, total: int, epochs: int, every: int) -> None:
        self.console, self.total, self.epochs, self.every = console, total, epochs, every
        self.recent: list[StepReport] = []

    def begin(self, done: int) -> None:
        self.start, self.done = time.monotonic(), done

    def step(self, report: StepReport, score: str) -> None:
        self.recent.append(report)
        if report.step % self.every and report.step != self.total:
            return
        a_step = (time.monotonic() - self.start) / (report.step - self.done)
        remaining = duration(a_step * (self.total - report.step))
        place = f"epoch {report.epoch}/{self.epochs} step {report.step}/{self.total}"
        line = f"{place} {_mean_values(self.recent)} remaining {remaining} {score}"
        self.message(line.rstrip())
        self.recent.clear()

    def message(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def close(self) -> None: ...


def suitable_display(total: int, epochs: int, log_every: int) -> Display:
    """A bar on a terminal, lines elsewhere; both on stderr."""
    console = Console(stderr=True)
    if console.is_terminal:
        return BarDisplay(console, total, epochs)
    return LineDisplay(console, total, epochs, log_every)


def _mean_values(reports: Collection[StepReport]) -> str:
    loss = sum(report.loss for report in reports) / len(reports)
    seconds = sum(report.seconds for report in reports)
    rate = sum(report.documents for report in reports) / max(seconds, 1e-9)
    tokens = sum(report.tokens for report in reports) / max(seconds, 1e-9)
    *_, last = reports
    speed = f"{rate:.1f} documents/s {tokens:.0f} tokens/s"
    return f"loss {loss:.4f} lr {last.learning_rate:.2e} {speed}"


def _records_until(path: Path, step: int) -> str:
    """The lines of metrics.jsonl up to a step; one cut short by a kill is left out."""
    kept = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
            until = record["step"] <= step
        except (ValueError, TypeError, KeyError):
            continue
        if until:
            kept.append(f"{line}\n")
    return "".join(kept)
