"""CSV for Neo4j: one record a line, and values that its importer takes as they are."""

import codecs
import csv
import io
import re
from pathlib import Path

import pytest
from export_documents import BIRTH, MODEL, RELATION_NAMES, STUDIES, document
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document
from factloom.errors import DocumentError
from factloom.graph.exports import csv_files, write_graph
from factloom.graph.identifiers import entity_iris


def read_back(folder: Path, *documents: Document) -> tuple[list[dict[str, str]], ...]:
    write_graph(documents, folder / "graph.csv", relation_names=RELATION_NAMES, model=MODEL)
    return tuple(_rows(folder / f"graph-{part}.csv") for part in ("nodes", "relationships"))


def _rows(path: Path) -> list[dict[str, str]]:
    # Line by line, as the importer reads it: no record goes over a line's end.
    lines = path.read_bytes().decode("utf-8").split("\n")
    assert lines.pop() == ""
    [header, *rows] = [next(csv.reader([line], strict=True)) for line in lines]
    return [dict(zip(header, row, strict=True)) for row in rows]


def facts(folder: Path, *documents: Document) -> list[dict[str, str]]:
    """The table as a spreadsheet reads it."""
    write_graph(documents, folder / "graph.csv", relation_names=RELATION_NAMES, model=MODEL)
    content = (folder / "graph.csv").read_bytes()
    assert content.startswith(codecs.BOM_UTF8), "else it guesses the encoding"
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_the_table_has_a_fact_a_row_in_words(tmp_path: Path) -> None:
    birth, studies = facts(tmp_path, BIRTH, STUDIES)
    assert birth == {
        "head": "Mara Velden",
        "relation": "place of birth",
        "tail": "Torvik",
        "score": "0.75",
        "evidence": BIRTH.text,
        "sentence_numbers": "1",
        "document": "birth.txt",
        "decision": "",
    }
    assert (studies["tail"], studies["score"]) == ('"Halden; College"', "")


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_the_table_is_a_formula(sign: str, tmp_path: Path) -> None:
    formula = f"{sign}HYPERLINK(1)"
    text = f"{formula} is B"
    found = document(formula, text, {formula: "X", "B": "X"}, ((formula, formula, "B", None),))
    [row] = facts(tmp_path, found)
    for column in ("head", "relation", "evidence", "document"):
        assert not row[column].startswith(sign), column
        assert row[column].lstrip("' \t").startswith(formula.strip()), column
    nodes = _rows(tmp_path / "graph-nodes.csv")
    assert formula.strip() in {node["name"] for node in nodes}, "a program gets it as it is"


def test_nodes_have_ids_labels_and_lists(tmp_path: Path) -> None:
    nodes, _ = read_back(tmp_path, BIRTH, STUDIES)
    assert {"id:ID", ":LABEL", "name", "type"} < set(nodes[0])
    by_name = {node["name"]: node for node in nodes}
    person = by_name["Mara Velden"]
    assert person["id:ID"] == entity_iris(BIRTH)[0]
    assert person[":LABEL"].split(";") == ["Entity", "PER"]
    assert person["documents:string[]"].split(";") == ["birth.txt", "studies.txt"]
    assert by_name['"Halden; College"']["type"] == "ORG"


def test_relationships_join_nodes_and_carry_their_evidence(tmp_path: Path) -> None:
    nodes, relationships = read_back(tmp_path, BIRTH, STUDIES)
    ids = {node["id:ID"] for node in nodes}
    assert all({row[":START_ID"], row[":END_ID"]} <= ids for row in relationships)
    birth, studies = relationships
    assert birth[":TYPE"] == "PLACE_OF_BIRTH"
    assert birth["relation"] == "P19"
    assert float(birth["score:float"]) == 0.75
    assert birth["sentence_indices:int[]"] == "0"
    assert birth["evidence"] == BIRTH.text
    assert studies["score:float"] == ""
    assert studies["model"] == MODEL


@pytest.mark.parametrize(
    ("relation", "type"),
    [
        ("located in: place/region", "LOCATED_IN_PLACE_REGION"),
        ("出生地", "出生地"),
        ("2nd cousin", "_2ND_COUSIN"),
        ("--", "RELATED_TO"),
    ],
)
def test_types_are_words_that_need_no_quotes(relation: str, type: str, tmp_path: Path) -> None:
    found = document("d", "a b", {"a": "X", "b": "X"}, (("a", relation, "b", None),))
    _, [row] = read_back(tmp_path, found)
    assert row[":TYPE"] == type
    assert row["name"] == relation


def test_a_list_mark_in_a_document_s_name_does_not_part_it(tmp_path: Path) -> None:
    [node], _ = read_back(tmp_path, document("a;b", "Torvik", {"Torvik": "LOC"}))
    assert node["documents:string[]"] == "a,b"


def test_a_failure_leaves_both_files_of_the_last_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_back(tmp_path, BIRTH)
    monkeypatch.setattr(csv_files, "_edge_row", lambda *_: ("\ud83d",))  # cannot be written
    with pytest.raises(DocumentError):
        read_back(tmp_path, BIRTH, STUDIES)
    assert tuple(_rows(tmp_path / f"graph-{p}.csv") for p in ("nodes", "relationships")) == before
    assert len(list(tmp_path.iterdir())) == 3


@given(name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_any_name_comes_back_on_one_line(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("csv")
    [node], _ = read_back(folder, document("d", name, {name: "MISC"}))
    expected = " ".join(name.split())
    assert node["name"] == re.sub("[\0\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+", " ", expected)
