"""The layout of the page's graph, run by node where there is one."""

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
LAYOUT = (files("factloom.graph.page") / "layout.js").read_text("utf-8")


def run(expression: str) -> Any:
    script = f"{LAYOUT}\nconsole.log(JSON.stringify({expression}))"
    done = subprocess.run(["node", "-e", script], capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def distance(one: list[float], other: list[float]) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5


def test_joined_nodes_lie_closer_than_others_and_none_on_another() -> None:
    edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [2, 3]]
    places = run(f"springLayout(6, {edges})")
    joined = [distance(places[a], places[b]) for a, b in edges]
    across = [distance(places[a], places[b]) for a in (0, 1) for b in (4, 5)]
    assert max(joined) < min(across)
    assert min(joined) > 0.1


def test_small_graphs_have_places_too() -> None:
    assert run("springLayout(0, [])") == []
    [place] = run("springLayout(1, [])")
    assert all(abs(value) < 1 for value in place)


def test_a_bent_line_keeps_its_ends_and_bends_to_the_left() -> None:
    xs, ys = run("bentLine([0, 0], [2, 0], 0.1)")
    assert (xs[0], ys[0], xs[-1], ys[-1]) == (0, 0, 2, 0)
    assert ys[8] == pytest.approx(0.1)


def test_of_boxes_that_overlap_the_first_stands() -> None:
    boxes = [
        {"x": 0, "y": 0, "width": 10, "height": 2},
        {"x": 6, "y": 1, "width": 10, "height": 2},
        {"x": 6, "y": 2, "width": 10, "height": 2},
        {"x": 10, "y": 0, "width": 10, "height": 2},
    ]
    assert run(f"standingFree({json.dumps(boxes)})") == [True, False, True, True]
