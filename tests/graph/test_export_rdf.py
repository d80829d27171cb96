"""RDF files hold the quads of the vocabulary and the merges, in three spellings."""

from pathlib import Path

import pytest
from export_documents import BIRTH, MODEL, RELATION_NAMES, STUDIES
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
