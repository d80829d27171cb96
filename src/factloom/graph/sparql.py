"""Queries in SPARQL: which graphs they ask, and errors that help."""

import re
from typing import Any

import pyoxigraph

from factloom.errors import InputError, Place
from factloom.graph.vocabulary import PREFIXES

# What may go wrong in a query whose syntax is right: no such function, no such service, a
# character that is none. Some of it comes only when the rows of the answer are read.
QUERY_FAILURES = (RuntimeError, ValueError, OSError)

_NO_KEYWORDS = re.compile(
    r"""
    <[^<>"{}|^`\\\s]*>                          # an IRI, which may hold a number sign
    | \"\"\"(?:[^"\\]|\\.|"(?!\"\"))*\"\"\"     # texts
    | '''(?:[^'\\]|\\.|'(?!''))*'''
    | "(?:[^"\\\n\r]|\\.)*"
    | '(?:[^'\\\n\r]|\\.)*'
    | \#[^\n\r]*                                # a comment
    """,
    re.VERBOSE | re.DOTALL,
)
_FROM = re.compile(r"(?<![\w?$:.@-])FROM(?![\w:.-])", re.IGNORECASE)


def answer(disk: pyoxigraph.Store, sparql: str, place: Place) -> Any:
    """The answer of pyoxigraph; all graphs are asked as one, unless the query says which."""
    as_one = not says_which_graphs(sparql)
    try:
        return disk.query(sparql, prefixes=PREFIXES, use_default_graph_as_union=as_one)
    except SyntaxError as error:
        raise InputError("query-syntax", detail=error) from None
    except QUERY_FAILURES as error:
        raise InputError("query-failed", place, detail=error) from None


def says_which_graphs(sparql: str) -> bool:
    """Whether the query has a FROM clause.

    >>> says_which_graphs("SELECT ?s FROM <urn:factloom:document:b> { ?s ?p ?o }")
    True
    >>> says_which_graphs("SELECT ?from { ?from ?p 'FROM <urn:x>' } # FROM <urn:x>")
    False
    """
    return _FROM.search(_NO_KEYWORDS.sub(" ", sparql)) is not None
