"""The picture is drawn, also where there is little to draw."""

import importlib.util
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from factloom.document import Document, Relation
from factloom.errors import FactloomError
from factloom.evaluation import plots
from factloom.evaluation.confusion import Confusion, confusion_counts, largest_confusion
from factloom.evaluation.plots import NO_SCORES, Scored
from factloom.evaluation.relations import evaluate, predictions_of


@pytest.fixture
def scored(ada: Document) -> Document:
    return ada.replace(
        relations=(
            Relation(0, 1, "born", score=0.9),
            Relation(0, 2, "brother", score=0.7),
            Relation(1, 3, "country", score=0.7),
        )
    )


def draw(gold: Document, predicted: Sequence[Document], path: Path) -> None:
    report = evaluate([gold], predicted)
    plots.draw(path, confusion(gold, predicted), report.scored, report.relations.gold)


def confusion(gold: Document, predicted: Sequence[Document]) -> Confusion:
    return largest_confusion(confusion_counts([gold], predictions_of(predicted)))


def test_a_picture_is_written(ada: Document, scored: Document, tmp_path: Path) -> None:
    draw(ada, [scored], tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_the_suffix_decides_the_kind_of_picture(
    ada: Document, scored: Document, tmp_path: Path
) -> None:
    draw(ada, [scored], tmp_path / "picture.svg")
    root = ElementTree.parse(tmp_path / "picture.svg").getroot()
    assert root.tag.endswith("svg")


def test_confusion_shows_each_count_at_its_place(ada: Document, scored: Document) -> None:
    axes = Figure().subplots()
    plots.draw_confusion(axes, confusion(ada, [scored]))
    labels = [label.get_text() for label in axes.get_yticklabels()]
    drawn = {
        (labels[round(text.get_position()[1])], labels[round(text.get_position()[0])])
        for text in axes.texts
    }
    assert drawn == {("born", "born"), ("father", "brother"), ("country", "country")}


def test_thresholds_end_at_the_scores_of_all_predictions(ada: Document, scored: Document) -> None:
    report, axes = evaluate([ada], [scored]), Figure().subplots()
    plots.draw_thresholds(axes, report.scored, report.relations.gold)
    lines = {line.get_label().split(",")[0]: line.get_ydata() for line in axes.get_lines()}
    assert lines["precision"][-1] == pytest.approx(report.precision)
    assert lines["recall"][-1] == pytest.approx(report.recall)
    assert lines["F1"][-1] == pytest.approx(report.f1)
    assert "only predictions given" in axes.get_xlabel()


def test_reliability_has_a_bar_for_each_bin(ada: Document, scored: Document) -> None:
    axes = Figure().subplots()
    plots.draw_reliability(axes, evaluate([ada], [scored]).scored)
    heights = [bar.get_height() for bar in axes.patches]
    assert len(heights) == 10
    assert heights[6] == pytest.approx(0.5)  # two scored 0.7, one of them right
    assert "expected calibration error" in axes.get_title()


@pytest.mark.parametrize(
    "panel", [lambda *given: plots.draw_thresholds(*given, 3), plots.draw_reliability]
)
def test_a_panel_without_scores_says_so(
    ada: Document, panel: Callable[[Axes, Scored], None]
) -> None:
    axes = Figure().subplots()
    panel(axes, evaluate([ada], [ada]).scored)
    assert [text.get_text() for text in axes.texts] == [NO_SCORES]


def test_no_predictions_at_all_can_be_drawn(ada: Document, tmp_path: Path) -> None:
    draw(ada, [], tmp_path / "picture.png")
    assert (tmp_path / "picture.png").exists()


@pytest.mark.parametrize("name", ["picture.docx", "nowhere/picture.png", "picture"])
def test_a_name_that_cannot_be_drawn_to_is_an_error(
    ada: Document, tmp_path: Path, name: str
) -> None:
    with pytest.raises(FactloomError) as raised:
        draw(ada, [ada], tmp_path / name)
    assert raised.value.code == "plot-name"


def test_missing_matplotlib_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(FactloomError, match=r"factloom\[plots\]"):
        plots.check_drawable(tmp_path / "picture.png")
