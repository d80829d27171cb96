"""Queries: which graphs they ask, and what they may not ask."""

import doctest

import pytest

from factloom.graph import sparql
from factloom.graph.sparql import asks_another_server, says_which_graphs


def test_doctests_of_the_module_hold() -> None:
    assert doctest.testmod(sparql).failed == 0


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM <urn:a> { ?s ?p ?o }",
        "select *\nfrom<urn:a>\n{ ?s ?p ?o }",
        "SELECT * FROM NAMED <urn:a> { GRAPH ?g { ?s ?p ?o } }",
        "PREFIX d: <urn:factloom:document:> ASK FROM d:ada.txt { ?s ?p ?o }",
        "PREFIX : <urn:x#> CONSTRUCT { ?s ?p '}' } FROM :a WHERE { ?s ?p ?o }",
        "SELECT ('\\'' AS ?x) # it's\n FROM <urn:a> { ?s ?p 'it' }",
        'SELECT (""" " ""\\""" """ AS ?x) FROM <urn:a> { ?s ?p "o" }',
        "DESCRIBE <urn:x#y>FROM <urn:a>",
    ],
)
def test_a_from_clause_is_found(query: str) -> None:
    assert says_which_graphs(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?from { ?from ?p ?o }",
        "SELECT $from { $from ?p ?o }",
        "PREFIX from: <urn:from> SELECT * { ?s from:from ?o }",
        "PREFIX a: <urn:a> SELECT * { ?s a:from ?o . _:from a:x-from 'a'@from }",
        "SELECT * { ?s ?p 'FROM <urn:a>' }",
        'SELECT * { ?s ?p """ " FROM <urn:a>""" }',
        "SELECT * { ?s ?p ?o } # FROM <urn:a>",
        "SELECT * { ?s <urn:a#from> ?o }",
        "SELECT * { ?s ?p ?o FILTER(?o < 5 && ?o > 3) }",
    ],
)
def test_what_is_no_from_clause_is_not_taken_for_one(query: str) -> None:
    assert not says_which_graphs(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { SERVICE <http://x.org/> { ?s ?p ?o } }",
        "SELECT * { ?s ?p ?o.service silent ?s { ?s ?p ?o } }",
        "SELECT * { ?s ?p 'o'.SERVICE<http://x.org/>{ ?s ?p ?o } }",
        "PREFIX x: <http://x.org/#> SELECT * { SERVICE x:y { ?s ?p ?o } }",
        "SELECT * { ?s ?p 5.SERVICE # <\n ?s { ?s ?p ?o } }",
        "PREFIX : <http://x.org/> SELECT * { SERVICE:x { ?s ?p ?o } }",
        "PREFIX a: <http://x.org/> SELECT * { serviceA:x # here\n{ ?s ?p ?o } }",
    ],
)
def test_a_service_clause_is_found(query: str) -> None:
    assert asks_another_server(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?service $service { ?service ?p $service }",
        "PREFIX service: <urn:service#> SELECT * { ?s service:service ?o ; service:x.service 1 }",
        "SELECT * { ?s <http://x.org/service> 'SERVICE <http://x.org/> {}'@service }",
        'SELECT * { ?s rdfs:label """a " SERVICE ?x""" } # SERVICE <http://x.org/> {}',
        "SELECT * { _:service relation:self-service ?services }",
        "PREFIX service: <urn:service#> SELECT * { GRAPH service:x { ?s ?p ?o } }",
    ],
)
def test_what_is_no_service_clause_is_not_taken_for_one(query: str) -> None:
    assert not asks_another_server(query)
