"""No query asks another server: SERVICE clauses are refused.

pyoxigraph would send what the store holds to whichever server a query names, and cannot be told not
to. Its parser knows no tokens: `trueSERVICE<http://x/>{}` and `FILTER(1<2)SERVICE:a#>` are clauses
to it, so that whoever looks for the keyword in tokens is passed by. But every clause has the
word, a target and an opening brace behind each other, whatever stands in front. That is looked
for in the text as it is. Where it seems to stand in a comment, a string or an IRI, the word is
blanked or escaped there: that means the same if it does, and is no SPARQL if it does not.
"""

import re
import sys
from bisect import bisect_right

from factloom.errors import InputError
from factloom.graph.sparql_tokens import tokens

_GAP = r"(?:\s|\#[^\n\r]*+)*+"
_CLAUSE = re.compile(
    rf"""
    service(?={_GAP}(?:silent{_GAP})?
    (?:<[^<>]*+>|[^\s<>{{}}\#\\:?$]*+[:?$](?:\\.|[^\s<>{{}}\#\\])*+)  # IRI, short name, variable
    {_GAP}\{{)
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What the letters are a part of in every reading: a variable, a short name, or one behind GRAPH.
_PART_OF_NAME = re.compile(
    r"""
    (?: (?<!\\)[?$]\w*
      | (?:^|[\s{};,])(?:[a-z][\w-]*)?:(?:[\w:][\w:-]*)?
      | (?:^|[\s{}])GRAPH[ \t]+ )\Z
    """,
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_ESCAPE = re.compile(r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}")
_LONGEST_NAME = 200  # characters that are looked back; longer ones are refused


def without_service(sparql: str) -> str:
    """The query in a form in which the word SERVICE starts no clause, or an error.

    >>> without_service("SELECT * { ?s ?p ?o } # SERVICE <http://example.org/> {}")
    'SELECT * { ?s ?p ?o } #         <http://example.org/> {}'
    >>> without_service("SELECT * { ?s ?p 'Service ?x {' }")
    "SELECT * { ?s ?p '\\\\u0053ervice ?x {' }"
    """
    found = _clauses(sparql)
    if len(_clauses(_ESCAPE.sub(_decoded, sparql))) > len(found):  # a parser may decode them first
        raise InputError("query-service")
    if not found:
        return sparql
    all_tokens = list(tokens(sparql))
    starts = [token.start for token in all_tokens]
    pieces, done = [], 0
    for start in found:
        kind = all_tokens[bisect_right(starts, start) - 1].kind
        if kind not in ("comment", "text", "iri"):
            raise InputError("query-service")
        word = sparql[start : start + len("service")]
        inert = " " * len(word) if kind == "comment" else f"\\u{ord(word[0]):04x}{word[1:]}"
        pieces += [sparql[done:start], inert]
        done = start + len(word)
    return "".join([*pieces, sparql[done:]])


def _clauses(sparql: str) -> list[int]:
    """Where the word stands in front of a target and a brace."""
    found = (clause.start() for clause in _CLAUSE.finditer(sparql))
    return [start for start in found if not _is_part_of_name(sparql, start)]


def _decoded(escape: re.Match[str]) -> str:
    code = int(escape[0][2:], 16)
    return chr(code) if code < sys.maxunicode else " "


def _is_part_of_name(sparql: str, start: int) -> bool:
    return _PART_OF_NAME.search(sparql[max(0, start - _LONGEST_NAME) : start]) is not None
