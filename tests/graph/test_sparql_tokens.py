"""The tokens of a query."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.graph import sparql_tokens
from factloom.graph.sparql_tokens import tokens


def telling(query: str) -> list[tuple[str, str]]:
    return [(each.kind, each.text) for each in tokens(query) if each.kind != "space"]


def test_doctests_of_the_module_hold() -> None:
    assert doctest.testmod(sparql_tokens).failed == 0


@given(st.text())
def test_nothing_of_a_query_is_lost(query: str) -> None:
    assert "".join(token.text for token in tokens(query)) == query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("a:b.c", [("name", "a:b.c")]),
        ("a:b.", [("name", "a:b"), ("sign", ".")]),
        ("a:.b", [("name", "a:"), ("sign", "."), ("word", "b")]),
        (r"a:b\'c\.", [("name", r"a:b\'c\.")]),
        ("a.b:c%20d", [("name", "a.b:c%20d")]),
        ("_:b1.", [("name", "_:b1"), ("sign", ".")]),
        ("?x.$y", [("variable", "?x"), ("sign", "."), ("variable", "$y")]),
        (r"'it\'s' ''", [("text", r"'it\'s'"), ("text", "''")]),
        ("'''a''b' c'''", [("text", "'''a''b' c'''")]),
        ('"""a"" b"""@en-GB', [("text", '"""a"" b"""'), ("language", "@en-GB")]),
        ("<urn:a#b>#c", [("iri", "<urn:a#b>"), ("comment", "#c")]),
        ("1.5e3.2", [("number", "1.5e3"), ("number", ".2")]),
        ("?a < ?b", [("variable", "?a"), ("sign", "<"), ("variable", "?b")]),
        (r"'''\q'''", [("text", "''"), ("sign", "'")][:1]),
    ],
)
def test_terminals_of_the_grammar(query: str, expected: list[tuple[str, str]]) -> None:
    assert telling(query)[: len(expected)] == expected


def test_depth_counts_the_brackets_around() -> None:
    depths = {token.text: token.depth for token in tokens("{a([b'({['c])}d")}
    assert (depths["a"], depths["b"], depths["c"], depths["d"]) == (1, 3, 3, 0)
