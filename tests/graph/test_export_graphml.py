"""GraphML is read back by networkx, which knows its types."""

from pathlib import Path

import networkx
import pytest
from export_documents import BIRTH, MODEL, RELATION_NAMES, STUDIES, document
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document
from factloom.graph.exports import write_graph
from factloom.graph.identifiers import entity_iris


def read_back(*documents: Document, folder: Path) -> networkx.MultiDiGraph:
    path = folder / "graph.graphml"
    write_graph(documents, path, relation_names=RELATION_NAMES, model=MODEL)
    return networkx.read_graphml(path, force_multigraph=True)


def test_nodes_and_edges_come_back_with_their_types(tmp_path: Path) -> None:
    graph = read_back(BIRTH, STUDIES, folder=tmp_path)
    person, place = entity_iris(BIRTH)
    assert graph.is_directed()
    assert graph.nodes[person] == {
        "name": "Mara Velden",
        "type": "PER",
        "documents": "birth.txt\nstudies.txt",
    }
    [birth] = graph.get_edge_data(person, place).values()
    assert birth == {
        "relation": "P19",
        "label": "place of birth",
        "score": 0.75,
        "document": "birth.txt",
        "sentence_indices": "0",
        "evidence": "Mara Velden was born in Torvik.",
        "model": MODEL,
    }
    [studies] = graph.get_edge_data(person, entity_iris(STUDIES)[0]).values()
    assert "score" not in studies


def test_two_relations_between_the_same_entities_are_two_edges(tmp_path: Path) -> None:
    both = document(
        "both",
        "Mara Velden, Torvik",
        {"Mara Velden": "PER", "Torvik": "LOC"},
        (("Mara Velden", "P19", "Torvik", 0.5), ("Mara Velden", "P20", "Torvik", 0.25)),
    )
    edges = read_back(both, folder=tmp_path).edges(data=True)
    assert sorted(data["relation"] for _, _, data in edges) == ["P19", "P20"]


@given(name=st.text(min_size=1).filter(str.strip))
def test_any_name_comes_back_but_for_what_xml_cannot_hold(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("graphml")
    # Control characters are replaced; a name stands on one line.
    expected = "".join(sign if _in_xml(sign) else "\ufffd" for sign in " ".join(name.split()))
    graph = read_back(document("d", name, {name: "MISC"}), folder=folder)
    assert [data["name"] for _, data in graph.nodes(data=True)] == [expected]


def _in_xml(sign: str) -> bool:
    code = ord(sign)
    return code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF


@pytest.mark.parametrize("text", ["Ada\rBabbage", "Ada\r\nBabbage", "\rAda\r\rB\n<&>\r"])
def test_line_ends_come_back_as_they_were(text: str, tmp_path: Path) -> None:
    found = document("a\rb", text, {"Ada": "PER", "B": "PER"}, (("Ada", "P19", "B", None),))
    graph = read_back(found, folder=tmp_path)
    [(_, _, edge)] = graph.edges(data=True)
    assert edge["evidence"] == found.sentence_text(0)
    assert edge["document"] == "a\rb"
