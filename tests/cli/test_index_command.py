"""`factloom index`, and the commands that an index follows."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from factloom.answers.index import open_index
from factloom.cli import app
from factloom.document import Document
from factloom.errors import InputError, ModelError
from factloom.extraction import Targets, extract
from factloom.graph.store import Store
from factloom.pipeline import Pipeline


class Nothing:
    """Finds nothing."""

    task = "end-to-end"
    relation_names: dict[str, str] = {}  # noqa: RUF012
    provenance: dict[str, object] = {}  # noqa: RUF012

    def predict(self, documents: list[Document]) -> list[Document]:
        return documents


@pytest.fixture
def store(tmp_path: Path) -> Path:
    documents = [Document("Mara Velden was born in Torvik.", id="a"), Document("Ashmere.", id="b")]
    with Store.open(tmp_path / "graph") as graph:
        graph.ingest(documents, relation_names={}, model="test 1")
    return tmp_path / "graph"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["index", *map(str, arguments)], catch_exceptions=False)


def test_an_index_is_built_updated_and_counted(store: Path, tiny_encoder_path: Path) -> None:
    built = run("build", "--store", store, "--encoder", tiny_encoder_path, "--most-words", 4)
    assert f"{store}: 2 added, 0 replaced, 0 removed, 0 unchanged" in built.output
    updated = json.loads(run("update", "--store", store, "--json").stdout)
    assert updated == {"added": 0, "replaced": 0, "removed": 0, "unchanged": 2}
    counted = json.loads(run("stats", "--store", store, "--json").stdout)
    assert counted["documents"] == 2
    assert counted["passages"] == 3
    assert counted["encoder"] == str(tiny_encoder_path)
    assert "most words" in run("stats", "--store", store).stdout


def test_an_extraction_and_a_deletion_take_the_index_along(
    store: Path, tiny_encoder_path: Path, tmp_path: Path
) -> None:
    run("build", "--store", store, "--encoder", tiny_encoder_path)
    (tmp_path / "new.txt").write_text("Halden College stands in Norvania.")
    extract(Pipeline(Nothing()), [str(tmp_path / "new.txt")], Targets(store=store))
    assert CliRunner().invoke(app, ["graph", "delete", "a", "--store", str(store)]).exit_code == 0
    updated = json.loads(run("update", "--store", store, "--json").stdout)
    assert updated == {"added": 0, "replaced": 0, "removed": 0, "unchanged": 2}
    with open_index(store) as index:
        assert index.search("Halden", by="words")[0].passage.document == "new.txt"
        assert index.search("Velden", by="words") == []


def test_a_store_without_index_gets_none_by_an_extraction(store: Path, tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text("Halden College stands in Norvania.")
    extract(Pipeline(Nothing()), [str(tmp_path / "new.txt")], Targets(store=store))
    assert not (store / "passages").exists()
    with pytest.raises(InputError, match="no-index"):
        run("stats", "--store", store)


def test_an_encoder_that_is_not_there_changes_nothing(
    store: Path, tiny_encoder_path: Path, tmp_path: Path
) -> None:
    run("build", "--store", store, "--encoder", tiny_encoder_path)
    with pytest.raises(ModelError):
        run("build", "--store", store, "--encoder", tmp_path / "none")
    assert json.loads(run("stats", "--store", store, "--json").stdout)["passages"] == 2
