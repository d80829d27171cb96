"""RDF files hold the quads of the vocabulary and the merges, in three spellings."""

import re
from pathlib import Path

import pytest
from export_documents import BIRTH, MODEL, RELATION_NAMES, STUDIES, document
from pyoxigraph import NamedNode, Quad, RdfFormat, Store, parse

from factloom.graph.exports import write_graph
from factloom.graph.identifiers import entity_iris
from factloom.graph.vocabulary import document_quads

FORMATS = {".ttl": RdfFormat.TURTLE, ".nq": RdfFormat.N_QUADS, ".jsonld": RdfFormat.JSON_LD}
SAME_AS = NamedNode("http://www.w3.org/2002/07/owl#sameAs")


def read_back(suffix: str, folder: Path) -> list[Quad]:
    path = folder / f"graph{suffix}"
    write_graph([BIRTH, STUDIES], path, relation_names=RELATION_NAMES, model=MODEL)
    return list(parse(path=path, format=FORMATS[suffix]))


def expected_quads() -> set[Quad]:
    return {
        quad
        for document in (BIRTH, STUDIES)
        for quad in document_quads(document, relation_names=RELATION_NAMES, model=MODEL)
    }


@pytest.mark.parametrize("suffix", [".nq", ".jsonld"])
def test_named_graphs_hold_exactly_what_the_vocabulary_says(suffix: str, tmp_path: Path) -> None:
    expected = expected_quads()
    graphs = {quad.graph_name for quad in expected}
    found = {quad for quad in read_back(suffix, tmp_path) if quad.graph_name in graphs}
    assert found == expected


def test_turtle_holds_the_same_triples_without_graphs(tmp_path: Path) -> None:
    found = {quad.triple for quad in read_back(".ttl", tmp_path)}
    assert {quad.triple for quad in expected_quads()} <= found


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_person_of_both_documents_is_said_to_be_the_same(suffix: str, tmp_path: Path) -> None:
    merges = [quad for quad in read_back(suffix, tmp_path) if quad.predicate == SAME_AS]
    pairs = [(quad.subject.value, quad.object.value) for quad in merges]
    assert pairs == [(entity_iris(STUDIES)[1], entity_iris(BIRTH)[0])]


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_sparql_engine_answers_from_the_file(suffix: str, tmp_path: Path) -> None:
    store = Store()
    store.extend(read_back(suffix, tmp_path))
    query = """
        PREFIX wdt: <http://www.wikidata.org/prop/direct/>
        PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
        SELECT ?place { ?person rdfs:label "Mara Velden"; wdt:P19/rdfs:label ?place }
    """
    [answer] = store.query(query, use_default_graph_as_union=True)
    assert answer["place"].value == "Torvik"


@pytest.mark.parametrize("name", ["Inc.", "Inc..", "...", "a b.", "a.b", ".a", "a\\."])
def test_a_name_that_ends_in_dots_is_written_out_in_turtle(name: str, tmp_path: Path) -> None:
    # rdflib takes no dot at the end of a short name, escaped or not.
    text = f"A is B; type:{name} relation:a\\\\. is text"
    dotted = document("d", text, {"A": name, "B": "X"}, (("A", name, "B", 0.5),))
    write_graph([dotted], tmp_path / "graph.ttl", relation_names={}, model=MODEL)
    turtle = (tmp_path / "graph.ttl").read_text("utf-8")
    without_texts = re.sub(r'"[^"]*"', '""', turtle)
    assert not re.search(r"\s(type|relation):\S*\.[\s,;]", without_texts)
    found = {quad.triple for quad in parse(turtle, format=RdfFormat.TURTLE)}
    assert found == {quad.triple for quad in document_quads(dotted, relation_names={}, model=MODEL)}


def test_long_turtle_is_written_out_wherever_it_is_cut(tmp_path: Path) -> None:
    pairs = [(f"A{number}", f"type{number}.") for number in range(2000)]
    many = document("d", " ".join(name for name, _ in pairs), dict(pairs))
    write_graph([many], tmp_path / "graph.ttl", relation_names={}, model=MODEL)
    turtle = (tmp_path / "graph.ttl").read_text("utf-8")
    assert "\\." not in turtle
    found = {quad.triple for quad in parse(turtle, format=RdfFormat.TURTLE)}
    assert found == {quad.triple for quad in document_quads(many, relation_names={}, model=MODEL)}
