"""A Document as RDF quads."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from graph_documents import NAMES, ada, make_document
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse, serialize

from factloom import formats
from factloom.document import Document
from factloom.errors import DocumentError, FactloomError
from factloom.graph.identifiers import (
    document_iri,
    document_key,
    document_of_entity,
    document_of_iri,
    entity_elsewhere,
    entity_iris,
    relation_iri,
    relation_of,
    type_iri,
    type_of,
)
from factloom.graph.vocabulary import RELATION_NAMES, document_quads, term

GRAPH = NamedNode("urn:factloom:document:ada.txt")
ADA = NamedNode("urn:factloom:entity:ada.txt/PER/Ada%20Lovelace")
LONDON = NamedNode("urn:factloom:entity:ada.txt/LOC/London")
BORN_IN = NamedNode("http://www.wikidata.org/prop/direct/P19")


def quads_of(document: Document) -> set[Quad]:
    return set(document_quads(document, relation_names=NAMES, model="test 1"))


def objects(quads: set[Quad], subject: NamedNode, short: str) -> set[object]:
    return {q.object for q in quads if q.subject == subject and q.predicate == term(short)}


def test_a_fact_is_a_plain_triple_in_the_graph_of_its_document() -> None:
    assert Quad(ADA, BORN_IN, LONDON, GRAPH) in quads_of(ada())


def test_beside_a_fact_stands_where_it_comes_from() -> None:
    quads = quads_of(ada())
    [statement] = {
        q.subject for q in quads if q.predicate == term("rdf:predicate") and q.object == BORN_IN
    }
    assert objects(quads, statement, "rdf:subject") == {ADA}
    assert objects(quads, statement, "rdf:object") == {LONDON}
    assert objects(quads, statement, "prov:wasDerivedFrom") == {GRAPH}
    assert objects(quads, statement, "fl:model") == {Literal("test 1")}
    assert objects(quads, statement, "fl:score") == {Literal(0.75)}
    sentences = objects(quads, statement, "fl:evidence")
    texts = {text.value for node in sentences for text in objects(quads, node, "fl:text")}
    assert texts == {"Ada Lovelace Lovelace stands here.", "London stands here."}


def test_a_fact_that_follows_from_others_says_so() -> None:
    people = [("PER", "Ada"), ("LOC", "London"), ("LOC", "England")]
    document = make_document("d", people, [(0, "P19", 1), (1, "P17", 2), (0, "P27", 2)])
    born, lies, citizen = document.relations
    premises = [[0, "P19", 1], [1, "P17", 2]]
    bridges = [{"entity": 1, "pattern": 1, "weight": 0.5, "premises": premises}]
    citizen = replace(citizen, provenance={"bridges": bridges})
    quads = quads_of(document.replace(relations=(born, lies, citizen)))
    [quad] = [quad for quad in quads if quad.predicate == term("fl:explanation")]
    assert quad.subject == NamedNode("urn:factloom:document:d#fact=2")
    assert quad.object.value.startswith("(Ada, ")
    assert quad.object.value.endswith("support (Ada, P27, England)")


def test_an_entity_has_its_type_its_names_and_the_places_of_its_mentions() -> None:
    quads = quads_of(ada())
    assert term("type:PER") in objects(quads, ADA, "rdf:type")
    assert objects(quads, ADA, "rdfs:label") == {Literal("Ada Lovelace")}
    assert objects(quads, ADA, "skos:altLabel") == {Literal("Lovelace")}
    places = {
        tuple(objects(quads, mention, f"fl:{part}").pop().value for part in ("begin", "end"))
        for mention in objects(quads, ADA, "fl:mention")
    }
    assert places == {("0", "12"), ("13", "21")}


def test_gold_facts_have_no_score() -> None:
    document = make_document("d", [("PER", "Ada"), ("LOC", "London")], [(0, "P19", 1)], score=None)
    assert not [quad for quad in quads_of(document) if quad.predicate == term("fl:score")]


def test_all_but_the_names_of_relations_stands_in_the_graph_of_the_document() -> None:
    quads = quads_of(ada())
    shared = {quad for quad in quads if quad.graph_name != GRAPH}
    assert {quad.graph_name for quad in shared} == {RELATION_NAMES}
    assert {quad.object.value for quad in shared} == {"place of birth", "date of birth"}


def test_relations_that_are_no_wikidata_property_have_names_of_our_own() -> None:
    assert relation_iri("P17") == "http://www.wikidata.org/prop/direct/P17"
    assert relation_iri("P17b") == "urn:factloom:relation:P17b"
    assert relation_iri("founded by/of") == "urn:factloom:relation:founded%20by%2Fof"


def test_a_wikidata_identifier_links_to_wikidata() -> None:
    document = make_document("d", [("PER", "Ada"), ("CHEM", "Zinc")], identifiers=["Q7259", "D01"])
    person, metal = (NamedNode(iri) for iri in entity_iris(document))
    quads = quads_of(document)
    assert objects(quads, person, "skos:exactMatch") == {term("wd:Q7259")}
    assert objects(quads, metal, "skos:exactMatch") == set()
    assert objects(quads, metal, "dcterms:identifier") == {Literal("D01")}


def test_two_entities_of_one_name_have_two_iris() -> None:
    document = make_document("d", [("PER", "Ada"), ("PER", "Ada"), ("LOC", "Ada")])
    assert len(set(entity_iris(document))) == 3


def test_an_entity_keeps_its_iri_when_other_parts_of_the_document_change() -> None:
    longer = make_document("d", [("LOC", "Rome"), ("PER", "Ada")])
    assert entity_iris(make_document("d", [("PER", "Ada")]))[0] in entity_iris(longer)


def test_documents_without_an_id_are_told_apart_by_their_text() -> None:
    keys = {document_key(Document(text="one")), document_key(Document(text="two"))}
    assert len(keys) == 2
    assert document_key(Document(text="one")) in keys


@given(st.text(min_size=1))
def test_names_are_valid_iris_and_can_be_read_back(name: str) -> None:
    try:
        document = make_document(name, [(name, "x")])
        iris = (document_iri(name), type_iri(name), relation_iri(name), entity_iris(document)[0])
    except FactloomError as error:
        assert error.code == "not-writable"  # noqa: PT017  half a surrogate pair
        return
    for iri in iris:
        NamedNode(iri)
    assert document_of_iri(iris[0]) == name
    assert type_of(iris[1]) == name
    assert relation_of(iris[2]) == name
    assert document_of_entity(iris[3]) == name


def test_half_a_surrogate_pair_is_an_error_with_its_document() -> None:
    document = make_document("d", [("PER", "Ada")], [(0, "P108", 0)])
    named = replace(document.mentions[0], name="\ud800")
    document = document.replace(mentions=(named,))
    with pytest.raises(DocumentError, match="surrogate"):
        quads_of(document)


@pytest.mark.parametrize("format", [RdfFormat.N_QUADS, RdfFormat.TRIG, RdfFormat.JSON_LD])
def test_nothing_is_lost_in_a_file_with_graphs(format: RdfFormat) -> None:
    quads = quads_of(ada())
    assert set(parse(serialize(quads, format=format), format=format)) == quads


def test_nothing_but_the_graphs_is_lost_in_turtle() -> None:
    triples = {quad.triple for quad in quads_of(ada())}
    turtle = serialize(triples, format=RdfFormat.TURTLE)
    assert {quad.triple for quad in parse(turtle, format=RdfFormat.TURTLE)} == triples


def test_every_fact_of_real_documents_is_there(profiles: list[Document]) -> None:
    for document in profiles:
        iris = entity_iris(document)
        expected = {(iris[r.head], relation_iri(r.type), iris[r.tail]) for r in document.relations}
        found = {
            (quad.subject.value, quad.predicate.value, quad.object.value)
            for quad in quads_of(document)
            if isinstance(quad.object, NamedNode)
        }
        assert expected <= found


def test_without_pyoxigraph_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "factloom.graph.vocabulary")
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(FactloomError, match=r"pip install 'factloom\[graph\]'"):
        import factloom.graph.vocabulary  # noqa: F401


def test_the_store_gives_a_document_back_as_a_file_does(tmp_path: Path) -> None:
    formats.write([ada()], tmp_path / "a.jsonl")
    [read] = formats.read(tmp_path / "a.jsonl")
    assert quads_of(read) == quads_of(ada())


@pytest.mark.parametrize(
    ("identifier", "meant"),
    [
        ("Q64", "http://www.wikidata.org/entity/Q64"),
        ("https://example.org/a", "https://example.org/a"),
        ("urn:factloom:entity:a/LOC/Berlin", "urn:factloom:entity:a/LOC/Berlin"),
        ("MESH:D003643", None),
        ("http://no iri", None),
    ],
)
def test_an_identifier_that_is_an_iri_is_the_same_thing(identifier: str, meant: str | None) -> None:
    assert entity_elsewhere(identifier) == meant
