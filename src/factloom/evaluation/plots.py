"""One picture of an evaluation: confusion, thresholds, reliability. Needs matplotlib."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from factloom.evaluation.confusion import Confusion, largest_confusion
from factloom.evaluation.thresholds import threshold_curve
from factloom.formats.plots import check_drawable, save
from factloom.modules.calibration import reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Scored = tuple[list[float], list[bool]]  # scores, and which of the predictions are correct

NO_SCORES = "the predictions have no scores"


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn of an evaluation."""

    confusion: Mapping[tuple[str, str], int]  # (gold label, predicted label)
    scored: Scored
    gold: int  # how many there were to be found

    def draw(self, path: Path) -> None:
        """Write confusion, thresholds and reliability as a picture."""
        draw(path, largest_confusion(self.confusion), self.scored, self.gold)


def draw(path: Path, confusion: Confusion, scored: Scored, gold: int) -> None:
    """Write the picture; the suffix of `path` decides its kind (.png, .svg, .pdf)."""
    check_drawable(path)
    # A figure of its own, without pyplot: no window system and no global state.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(19, 6), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.25, 1, 1))
    draw_confusion(left, confusion)
    draw_thresholds(middle, scored, gold)
    draw_reliability(right, scored)
    save(figure, path)


def draw_confusion(axes: "Axes", confusion: Confusion) -> None:
    """Rows are gold types; the colour is the share of the row, the number the count."""
    counts = confusion.counts  # (gold, predicted)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for (row, column), count in np.ndenumerate(counts):
        if count:
            colour = "white" if shares[row, column] > 0.5 else "black"
            axes.text(column, row, f"{count}", ha="center", va="center", color=colour, fontsize=8)
    positions = range(len(confusion.labels))
    axes.set_xticks(positions, confusion.labels, rotation=45, ha="right")
    axes.set_yticks(positions, confusion.labels)
    axes.set(xlabel="predicted", ylabel="gold", title="What was taken for what")


def draw_thresholds(axes: "Axes", scored: Scored, gold: int) -> None:
    """Precision, recall and F1 over the least score that counts."""
    axes.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel="least score that counts\n(only predictions given: nothing below the model's rule)",
        title="Precision, recall and F1 by threshold",
    )
    scores, correct = scored
    if not scores:
        axes.text(0.5, 0.5, NO_SCORES, ha="center")
        return
    curve = threshold_curve(scores, correct, gold)
    for name, values in (("precision", curve.precision), ("recall", curve.recall)):
        axes.plot(curve.thresholds, values, label=name)
    best = curve.best
    label = f"F1, best {curve.f1[best]:.3f} at {curve.thresholds[best]:.2f}"
    axes.plot(curve.thresholds, curve.f1, label=label, linewidth=2)
    axes.axvline(curve.thresholds[best], color="grey", linestyle=":")
    axes.legend(loc="lower left")


def draw_reliability(axes: "Axes", scored: Scored) -> None:
    """The share of correct predictions over their score; honest scores lie on the diagonal."""
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="score", ylabel="share that is correct")
    axes.plot((0, 1), (0, 1), color="grey", linestyle=":")
    scores, correct = scored
    if not scores:
        axes.set_title("Reliability")
        axes.text(0.5, 0.4, NO_SCORES, ha="center")
        return
    bins = reliability(scores, correct)
    width = np.diff(bins.edges)
    axes.bar(bins.edges[:-1], bins.accuracy, width, align="edge", alpha=0.6, edgecolor="white")
    filled = bins.counts > 0
    axes.plot(bins.confidence[filled], bins.accuracy[filled], "o-", color="black", markersize=4)
    for left, height, count in zip(bins.edges[:-1], bins.accuracy, bins.counts, strict=True):
        if count:
            axes.text(left + width[0] / 2, height / 2, f"{count}", ha="center", fontsize=8)
    error = bins.expected_calibration_error
    axes.set_title(f"Reliability: expected calibration error {error:.3f}")
