"""A store as a file."""

import csv
from pathlib import Path

import networkx
import pytest
from graph_documents import NAMES, ada, engine

from factloom.graph.dump import dump
from factloom.graph.store import Store

MODELS = {"ada.txt": "model-one 1", "engine.txt": "model-two 2"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store.open(tmp_path / "store")
    for document in (ada(), engine()):
        opened.ingest([document], relation_names=NAMES, model=MODELS[document.id])
    return opened


def test_every_edge_says_the_model_that_has_read_its_document(store: Store, tmp_path: Path) -> None:
    dump(store, tmp_path / "graph.graphml")
    dump(store, tmp_path / "graph.csv")
    edges = networkx.read_graphml(tmp_path / "graph.graphml", force_multigraph=True).edges
    found = [(edge["document"], edge["model"]) for *_, edge in edges(data=True)]
    with (tmp_path / "graph-relationships.csv").open(encoding="utf-8", newline="") as rows:
        in_table = [(row["document"], row["model"]) for row in csv.DictReader(rows)]
    assert sorted(found) == sorted(in_table) == sorted(2 * list(MODELS.items()))


def test_the_page_names_all_models(store: Store, tmp_path: Path) -> None:
    dump(store, tmp_path / "graph.html")
    assert "model-one 1, model-two 2" in (tmp_path / "graph.html").read_text("utf-8")
