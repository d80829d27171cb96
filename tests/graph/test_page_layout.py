"""The layout of the page's graph, run by node where there is one."""

import json
from typing import Any

import pytest

from page_scripts import result_of


def run(expression: str) -> Any:
    return result_of(expression, "layout.js")


def layout(count: int, edges: list[list[int]]) -> list[list[float]]:
    """The places of all nodes."""
    begun = f"const layout = beginLayout({count}, {edges})"
    ended = "while (layout.round < ROUNDS) nextRound(layout)"
    found: list[list[float]] = run(
        f"(() => {{ {begun}; {ended}; return [...layout.xs].map((x, n) => [x, layout.ys[n]]); }})()"
    )
    return found


def distance(one: list[float], other: list[float]) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5


def test_joined_nodes_lie_closer_than_others_and_none_on_another() -> None:
    edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [2, 3]]
    places = layout(6, edges)
    joined = [distance(places[a], places[b]) for a, b in edges]
    across = [distance(places[a], places[b]) for a in (0, 1) for b in (4, 5)]
    assert max(joined) < min(across)
    assert min(joined) > 0.1


def test_small_graphs_have_places_too() -> None:
    assert layout(0, []) == []
    [place] = layout(1, [])
    assert all(abs(value) < 1 for value in place)


def test_what_is_far_pushes_as_one_about_as_its_nodes_do() -> None:
    """Against a naive sum over all pairs."""
    naive = """
        (({ xs, ys, distance }) => [...xs].map((x, a) => [...xs].reduce(([fx, fy], _, b) => {
          if (a === b) return [fx, fy];
          const [dx, dy] = [xs[b] - x, ys[b] - ys[a]];
          const push = distance ** 2 / (dx * dx + dy * dy);
          return [fx - dx * push, fy - dy * push];
        }, [0, 0])))(beginLayout(150, []))"""
    forces = "(({ xs, ys }) => [...xs].map((x, n) => [x, ys[n]]))(pushes(beginLayout(150, [])))"
    expected, found = run(f"[{naive}, {forces}]")
    strongest = max(distance([0, 0], force) for force in expected)
    errors = [distance(*pair) for pair in zip(expected, found, strict=True)]
    assert max(errors) < 0.1 * strongest


def test_nodes_in_one_place_are_no_trouble() -> None:
    tree = run("treeOfSquares(new Float64Array(3), new Float64Array(3))")
    assert tree["counts"][0] == 3


def test_a_bent_line_bends_to_the_left() -> None:
    assert run("bendPoint(0, 0, 2, 0, 0.1)") == [1, pytest.approx(0.2)]


def test_of_boxes_that_overlap_the_first_stands() -> None:
    boxes = [
        {"x": 0, "y": 0, "width": 10, "height": 2},
        {"x": 6, "y": 1, "width": 10, "height": 2},
        {"x": 6, "y": 2, "width": 10, "height": 2},
        {"x": 10, "y": 0, "width": 10, "height": 2},
        {"x": 500, "y": 0, "width": 10, "height": 2},
    ]
    assert run(f"standingFree({json.dumps(boxes)})") == [True, False, True, True, True]


def test_of_too_many_entities_those_that_hang_together_are_drawn() -> None:
    star = [{"head": 0, "tail": tail} for tail in (1, 2, 3)]
    apart = [{"head": 7, "tail": 8}, {"head": 9, "tail": 9}]
    assert run(f"[...entitiesToDraw({json.dumps(star + apart)}, 3).drawn]") == [0, 1, 2]
    assert run(f"[...entitiesToDraw({json.dumps(star + apart)}, 9).drawn]") == [0, 1, 2, 3, 7, 8]
