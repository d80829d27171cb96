"""A picture of what a set of documents holds. Needs matplotlib."""

import importlib.util
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from factloom.errors import InputError, ModelError, Place
from factloom.files.output import complete_or_nothing
from factloom.formats.statistics import Statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
_BARS = 30  # more bars cannot be read; the rest is shown as one


def check_drawable(path: Path) -> None:
    """Raise now what would otherwise be raised after a large file was read."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ModelError("plots-missing")
    if path.suffix.lower() not in SUFFIXES or not path.parent.is_dir():
        raise InputError("plot-name", Place(file=str(path)))


def draw(found: Statistics, path: Path) -> None:
    """Histograms of lengths on the left, the labels on the right."""
    check_drawable(path)
    # A figure of its own, without pyplot: no window system and no global state.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 9), layout="constrained")
    histograms = ["tokens a document", "entities a document", "relations a document"]
    right = ["relation types", "relation types", "entity types"]
    panels = figure.subplot_mosaic([list(row) for row in zip(histograms, right, strict=True)])
    for name in histograms:
        _draw_histogram(panels[name], name, found.lengths.get(name, []))
    _draw_bars(panels["relation types"], "relations of each type", found.relation_types)
    _draw_bars(panels["entity types"], "entities of each type", found.entity_types)
    save(figure, path)


def save(figure: "Figure", path: Path) -> None:
    """Write a figure; the suffix of `path` decides its kind."""
    with complete_or_nothing(path) as stream:
        figure.savefig(stream, format=path.suffix[1:].lower(), dpi=120)


def _draw_histogram(axes: "Axes", name: str, lengths: list[int]) -> None:
    axes.hist(lengths, bins=min(40, max(1, len(set(lengths)))), color="tab:blue")
    axes.set_xlabel(name)
    axes.set_ylabel("documents")


def _draw_bars(axes: "Axes", title: str, labels: Counter[str]) -> None:
    shown = labels.most_common(_BARS)
    rest = labels.total() - sum(count for _, count in shown)
    if rest:
        shown.append((f"{len(labels) - _BARS} others", rest))
    names = [name.replace("$", r"\$") for name, _ in reversed(shown)]  # $ begins a formula
    axes.barh(range(len(names)), [count for _, count in reversed(shown)], color="tab:orange")
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_title(title)
