"""A query never reaches another server, however it is written."""

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, Store

from factloom.errors import InputError
from factloom.graph import service_clauses
from factloom.graph.service_clauses import without_service
from factloom.graph.vocabulary import PREFIXES

# No connection is made to this port: pyoxigraph refuses it, as late as it would connect.
SERVER = "http://127.0.0.1:1/"
REACHED = "port 1 is not allowed"
DECLARED = {"x": SERVER, "": SERVER, "service": SERVER, "e": "urn:e:", **PREFIXES}


def reaches_server(query: str) -> bool:
    disk = Store()
    for value in (Literal(True), Literal(5), NamedNode("urn:e:")):
        disk.add(Quad(NamedNode("urn:a"), NamedNode("urn:b"), value))
    try:
        list(disk.query(query, prefixes=DECLARED))  # type: ignore[arg-type]
    except OSError as error:
        return REACHED in str(error)
    except (SyntaxError, ValueError, RuntimeError):
        return False
    return False


def test_doctests_of_the_module_hold() -> None:
    assert doctest.testmod(service_clauses).failed == 0


CLAUSES = [
    "SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }",
    "SELECT * { ?s ?p e:.SERVICE <http://127.0.0.1:1/> { ?x ?y ?z } }",
    "SELECT * { ?s ?p trueSERVICE<http://127.0.0.1:1/>{ ?x ?y ?z } }",
    "SELECT * { ?s ?p 5.service silent <http://127.0.0.1:1/> { ?x ?y ?z } }",
    "SELECT * { FILTER(1<2)SERVICE x:#>\n{ ?x ?y ?z } }",
    "SELECT * { SERVICE:{ ?x ?y ?z } }",
    "SELECT * { servicex:# here\n{ ?x ?y ?z } }",
    "SELECT * { # GRAPH\n service:{ ?x ?y ?z } }",
    "SELECT * { ?s ?p ?oGRAPH service:{ ?x ?y ?z } }",
    "SELECT * { LATERAL { SERVICE <http://127.0.0.1:1/> { ?x ?y ?z } } }",
]


@pytest.mark.parametrize("query", CLAUSES)
def test_a_clause_that_would_reach_a_server_is_refused(query: str) -> None:
    plain = query.replace("service silent", "service")  # else the failure would be passed over
    assert reaches_server(plain)
    with pytest.raises(InputError) as found:
        without_service(query)
    assert found.value.code == "query-service"


@pytest.mark.parametrize(
    "query",
    [
        "PREFIX : <http://127.0.0.1:1/> SELECT * { FILTER(1<2)SERVICE:#>\n{ ?x ?y ?z } }",
        "SELECT * { ?s ?p ('''a') SERVICE x: { ?x ?y ?z} #\\q'''\n}",
        "SELECT * { ?s ?p '''a', 'b' . SERVICE x: { ?x ?y ?z} #\\q'''\n}",
    ],
)
def test_what_passes_tokens_by_does_not_reach_a_server(query: str) -> None:
    assert not reaches_server(safe(query))


def test_a_clause_in_escapes_is_refused() -> None:
    with pytest.raises(InputError):
        without_service(r"SELECT * { \u0053ERVICE <http://127.0.0.1:1/> { ?x ?y ?z } }")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?service { ?s ?p $service { ?s ?service ?o } }",
        "SELECT * { ?s service:service ?o ; service:x.service 1 }",
        "SELECT * { ?s relation:self-service ?o { ?s ?p ?o } }",
        'SELECT * { ?s rdfs:label """a " SERVICE ?x""" }',
        "SELECT * { ?s ?p ?o FILTER(CONTAINS(?o, 'service')) }",
        "SELECT * { GRAPH service:x { ?s ?p ?o } }",
        "SELECT ?service WHERE { ?s ?p ?service }",
    ],
)
def test_what_is_no_clause_stays_as_it_is(query: str) -> None:
    assert without_service(query) == query
    Store().query(query, prefixes=DECLARED)  # it is SPARQL


@pytest.mark.parametrize("quote", ["'", '"', "'''", '"""'])
def test_a_clause_in_a_text_is_text(quote: str) -> None:
    text = "Service <http://127.0.0.1:1/> {}"
    query = f"SELECT ({quote}{text}{quote} AS ?x) {{}}"
    [row] = Store().query(without_service(query))
    assert row["x"].value == text


def test_a_clause_in_an_address_is_a_part_of_it() -> None:
    query = "SELECT * { BIND(<urn:service:x> AS ?x) { } }"
    [row] = Store().query(without_service(query))
    assert row["x"].value == "urn:service:x"


def test_a_clause_in_a_comment_is_a_comment() -> None:
    query = "SELECT * { # SERVICE <http://127.0.0.1:1/> { ?x ?y ?z }\n}"
    assert len(list(Store().query(without_service(query)))) == 1


def safe(query: str) -> str:
    try:
        return without_service(query)
    except InputError:
        return ""


PIECES = st.sampled_from(
    [
        *("SERVICE", "service", "SILENT ", "x:", ":", f"<{SERVER}>", " { ?x ?y ?z } ", "{", "}"),
        *(" ", "\n", ".", "#", "<", ">", "'", '"', "'''", '"""', "\\", "\\'", "\\q", "\\u0053"),
        *("true", "5", "?a", "$", "?", "e:", "e:a", "e:a.", "@en", "GRAPH ", "a ", "^^", "_:b"),
        *(" ?s ?p ", "FILTER(1<2)", "OPTIONAL ", "UNION ", "(", ")", "[", "]", ";", ",", "-"),
    ]
)


@settings(max_examples=3000, deadline=None)
@given(st.lists(PIECES, max_size=12), st.lists(PIECES, max_size=5), st.lists(PIECES, max_size=8))
def test_no_query_reaches_a_server(front: list[str], between: list[str], behind: list[str]) -> None:
    clause = ["SERVICE", *between, f"<{SERVER}>", " { ?x ?y ?z } "]
    query = f"SELECT * {{ {''.join([*front, *clause, *behind])} }}"
    assert not reaches_server(safe(query))
