"""What all files written from a graph have in common."""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from export_documents import BIRTH, MODEL, RELATION_NAMES, STUDIES

from factloom.document import Document
from factloom.errors import InputError
from factloom.graph.exports import SUFFIXES, check_suffix, write_graph


def written(path: Path) -> list[str]:
    return sorted(found.name for found in path.parent.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_suffix_writes_a_stream_of_documents_and_counts_them(
    suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"graph{suffix}"
    count = write_graph(iter([BIRTH, STUDIES]), path, relation_names=RELATION_NAMES, model=MODEL)
    assert count == 2
    files = ["graph-nodes.csv", "graph-relationships.csv", "graph.csv"]
    assert written(path) == (files if suffix == ".csv" else [path.name])
    for found in tmp_path.iterdir():
        assert "Velden" in found.read_text("utf-8")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_document_that_fails_leaves_the_older_file_as_it_was(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{suffix}"
    write_graph([BIRTH], path)
    before = {found.name: found.read_bytes() for found in tmp_path.iterdir()}

    def failing() -> Iterator[Document]:
        yield STUDIES
        raise RuntimeError("the model broke")

    with pytest.raises(RuntimeError, match="the model broke"):
        write_graph(failing(), path)
    assert {found.name: found.read_bytes() for found in tmp_path.iterdir()} == before


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_document_gives_a_file_too(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{suffix}"
    assert write_graph([], path) == 0
    assert written(path)


def test_an_unknown_suffix_names_the_known_ones(tmp_path: Path) -> None:
    for path in (tmp_path / "graph.xyz", tmp_path / "graph"):
        with pytest.raises(InputError) as error:
            check_suffix(path)
        assert error.value.code == "no-graph-for-suffix"
        assert all(suffix in str(error.value) for suffix in SUFFIXES)


def test_a_name_in_capitals_and_gzip_are_understood(tmp_path: Path) -> None:
    write_graph([BIRTH], tmp_path / "GRAPH.NQ.GZ")
    write_graph([BIRTH], tmp_path / "plain.nq")
    assert (
        gzip.decompress((tmp_path / "GRAPH.NQ.GZ").read_bytes())
        == (tmp_path / "plain.nq").read_bytes()
    )


def test_a_directory_that_does_not_exist_is_an_error_of_the_output(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        write_graph([BIRTH], tmp_path / "nowhere" / "graph.graphml")
    assert error.value.code == "file-unwritable"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_each_document_may_have_a_model_of_its_own(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{suffix}"
    write_graph([BIRTH, STUDIES], path, model={BIRTH.id: "model-one 1", STUDIES.id: "model-two 2"})
    everything = "".join(found.read_text("utf-8") for found in tmp_path.iterdir())
    assert "model-one 1" in everything
    assert "model-two 2" in everything
    assert ("model-one 1, model-two 2" in everything) == (suffix == ".html")


def test_a_number_that_tells_documents_apart_is_not_that_of_another_document(
    tmp_path: Path,
) -> None:
    texts = [BIRTH.replace(id=key) for key in ("a", "a (2)", "a", "a (2)", "a", "b (2)", "b", "b")]
    write_graph(texts, tmp_path / "graph.csv")
    with (tmp_path / "graph-relationships.csv").open(encoding="utf-8", newline="") as rows:
        found = [row["document"] for row in csv.DictReader(rows)]
    assert found == ["a", "a (2)", "a (3)", "a (2) (2)", "a (4)", "b (2)", "b", "b (3)"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_documents_of_the_same_id_lose_no_fact(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{suffix}"
    twin = STUDIES.replace(id=BIRTH.id)
    assert write_graph([BIRTH, twin, STUDIES, twin], path) == 4
    everything = "".join(found.read_text("utf-8") for found in tmp_path.iterdir())
    for name in ("birth.txt", "birth.txt (2)", "birth.txt (3)", "studies.txt"):
        assert name in everything
