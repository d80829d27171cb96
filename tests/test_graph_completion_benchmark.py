"""The ranks that the benchmark of completion reports, against a plain loop."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from factloom.knowledge.fact_table import FactTable


def test_ranks_leave_other_known_answers_out_and_ties_are_their_mean(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "benchmarks")
    graph_completion = importlib.import_module("graph_completion")
    table = FactTable.from_triples([("a", "r", "b"), ("c", "r", "a"), ("d", "s", "b")])
    more = np.array([[0, 0, 2]])  # a r c is held out
    everything = FactTable(table.entities, table.relations, np.concatenate([table.facts, more]))
    scores = np.array([0.5, 0.9, 0.5, 0.5], np.float32)  # of a, b, c, d

    def ask(subjects: NDArray[np.int64], _: int) -> NDArray[np.float32]:
        return np.stack([scores for _ in subjects])

    found = graph_completion.ranks(table, everything, more, ask)
    # a r ?: b is known to be right, and left out; a and d are equal to c
    # ? r c: b is better, and nobody else is known; c and d are equal to a
    assert found.tolist() == [1 + 2 / 2, 1 + 1 + 2 / 2]
