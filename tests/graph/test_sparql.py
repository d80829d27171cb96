"""Queries before they are asked: which graphs they ask, how much, and how deep."""

import pytest
from pyoxigraph import Store

from factloom.errors import InputError
from factloom.graph.sparql import DEEPEST, LONGEST, question


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
    assert not question(query).all_graphs


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
    assert question(query).all_graphs


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT * { VALUES ?x { 1 2 3 4 } }", 2),
        ("SELECT * { VALUES ?x { 1 2 3 4 } } # all of them", 2),
        ("SELECT * { VALUES ?x { 1 2 3 4 } } LIMIT 3", 2),
        ("SELECT * { VALUES ?x { 1 2 3 4 } } LIMIT 1", 1),
        ("SELECT * { VALUES ?x { 1 2 3 4 } } OFFSET 3", 1),
        ("SELECT * { } VALUES ?x { 1 2 3 4 }", 2),
        ("SELECT * { { SELECT * { VALUES ?limit { 1 2 3 4 } } LIMIT 3 } }", 2),
    ],
)
def test_a_limit_is_put_where_the_grammar_has_it(query: str, rows: int) -> None:
    assert len(list(Store().query(question(query, limit=2).sparql))) == rows


@pytest.mark.parametrize("brackets", ["{}", "()", "[]"])
def test_brackets_in_brackets_have_a_limit(brackets: str) -> None:
    opening, closing = brackets
    question(f"SELECT * {opening * DEEPEST}{closing * DEEPEST}")
    with pytest.raises(InputError, match="brackets inside each other"):
        question(f"SELECT * {opening * (DEEPEST + 1)}{closing * (DEEPEST + 1)}")


def test_brackets_behind_each_other_have_none() -> None:
    question("SELECT * {" + "{} " * (2 * DEEPEST) + "}")


def test_the_length_has_a_limit() -> None:
    with pytest.raises(InputError, match=f"{LONGEST + 1} characters"):
        question(" " * (LONGEST + 1))
