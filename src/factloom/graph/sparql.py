"""Queries in SPARQL: which graphs they ask, and errors that help."""

import re
from collections.abc import Iterator
from typing import Any

import pyoxigraph

from factloom.errors import InputError, Place
from factloom.graph.vocabulary import PREFIXES

# What may go wrong in a query whose syntax is right: no such function, a character that is none.
# Some of it comes only when the rows of the answer are read.
QUERY_FAILURES = (RuntimeError, ValueError, OSError)

_NO_KEYWORDS = re.compile(
    r"""
    <[^<>"{}|^`\\\s]*>                          # an IRI, which may hold a number sign
    | \"\"\"(?:[^"\\]|\\.|"(?!\"\"))*\"\"\"     # texts
    | '''(?:[^'\\]|\\.|'(?!''))*'''
    | "(?:[^"\\\n\r]|\\.)*"
    | '(?:[^'\\\n\r]|\\.)*'
    | (?P<comment>\#[^\n\r]*)
    | [?$]\w+                                   # a variable
    | @[A-Za-z][A-Za-z0-9-]*                    # a language
    | (?P<prefix>[^\W\d_](?:[\w.-]*[\w-])?|_)?:(?:[\w:%.-]|\\.)*  # a short name, such as wdt:P19
    """,
    re.VERBOSE | re.DOTALL,
)
_FROM = re.compile(r"\bFROM\b", re.IGNORECASE)
_SERVICE = re.compile(r"\bSERVICE\b", re.IGNORECASE)
_GRAPH_AT_END = re.compile(r"\bGRAPH$", re.IGNORECASE)
_UPDATE = re.compile(
    r"(?:\s|PREFIX\b|BASE\b)*\b(INSERT|DELETE|LOAD|CLEAR|CREATE|DROP|COPY|MOVE|ADD|WITH)\b",
    re.IGNORECASE,
)
_DECLARED_PREFIX = re.compile(r"\bPREFIX\s+([^\s:]*):", re.IGNORECASE)


def answer(disk: pyoxigraph.Store, sparql: str, place: Place) -> Any:
    """The answer of pyoxigraph; all graphs are asked as one, unless the query says which."""
    if asks_another_server(sparql):
        raise InputError("query-service")
    as_one = not says_which_graphs(sparql)
    try:
        return disk.query(sparql, prefixes=PREFIXES, use_default_graph_as_union=as_one)
    except SyntaxError as error:
        raise _syntax_error(sparql, error) from None
    except QUERY_FAILURES as error:
        raise InputError("query-failed", place, detail=error) from None


def says_which_graphs(sparql: str) -> bool:
    """Whether the query has a FROM clause.

    >>> says_which_graphs("SELECT ?s FROM <urn:factloom:document:b> { ?s ?p ?o }")
    True
    >>> says_which_graphs("SELECT ?from { ?from ?p 'FROM <urn:x>' } # FROM <urn:x>")
    False
    """
    return _FROM.search(_keywords(sparql)) is not None


def asks_another_server(sparql: str) -> bool:
    """Whether the query has a SERVICE clause, for which pyoxigraph would use the network.

    >>> asks_another_server("SELECT * { SERVICE <http://example.org/> { ?s ?p ?o } }")
    True
    >>> asks_another_server("SELECT ?service { ?service ?p 'SERVICE <urn:x>' }")
    False
    """
    return _SERVICE.search(_keywords(sparql)) is not None or any(
        _is_service_without_space(sparql, found)
        for found in _NO_KEYWORDS.finditer(sparql)
        if (found["prefix"] or "").casefold().startswith("service")
    )


def _is_service_without_space(sparql: str, short_name: re.Match[str]) -> bool:
    """Whether it is the keyword and a short name, such as SERVICE:there { ... }."""
    in_front = _keywords(sparql[: short_name.start()]).rstrip()
    behind = _keywords(sparql[short_name.end() :]).lstrip()
    return behind.startswith("{") and _GRAPH_AT_END.search(in_front) is None


def _keywords(sparql: str) -> str:
    """The query without names, texts and comments."""
    return _NO_KEYWORDS.sub(" ", sparql)


def _syntax_error(sparql: str, error: SyntaxError) -> InputError:
    """What is wrong with a query that cannot be read, in the words of whoever wrote it."""
    if not _without_comments(sparql).strip():
        return InputError("query-empty")
    if update := _UPDATE.match(_keywords(sparql)):
        return InputError("query-update", word=update[1].upper())
    unknown = next(_unknown_prefixes(sparql), None)
    if unknown is not None:
        return InputError("query-prefix", prefix=unknown, known=" ".join(PREFIXES))
    return InputError("query-syntax", detail=error)


def _without_comments(sparql: str) -> str:
    return _NO_KEYWORDS.sub(lambda found: "" if found["comment"] else found[0], sparql)


def _unknown_prefixes(sparql: str) -> Iterator[str]:
    """The prefixes that are used in the query, and neither declared in it nor known."""
    known = {"_", *PREFIXES, *_DECLARED_PREFIX.findall(_without_comments(sparql))}
    for found in _NO_KEYWORDS.finditer(sparql):
        is_short_name = found["prefix"] is not None or found[0].startswith(":")
        if is_short_name and (prefix := found["prefix"] or "") not in known:
            yield prefix
