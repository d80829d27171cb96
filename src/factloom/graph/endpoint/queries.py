"""Patterns of quads as SPARQL, with no word about the default graph, which each server sees anew.

Only graphs of a store are looked at, so that others may stand at the same endpoint.
"""

from collections.abc import Iterator, Sequence

from factloom.graph.database import Pattern
from factloom.graph.endpoint.writing import WAITING
from factloom.graph.sparql import Question
from factloom.graph.sparql_tokens import tokens
from factloom.graph.vocabulary import PREFIXES

# The graphs of a store; what still waits to be a part of one is none.
FROM_ALL = f'FILTER(STRSTARTS(STR(?g), "urn:factloom:") && !STRSTARTS(STR(?g), "{WAITING}"))'

_AT_A_TIME = 200  # patterns in one query


def pattern_query(pattern: Pattern) -> str:
    """Columns s, p, o and g for what the pattern does not say."""
    return f"SELECT * {{ {_group(pattern)} }}"


def numbered_patterns(patterns: Sequence[Pattern]) -> Iterator[tuple[str, Sequence[Pattern]]]:
    """Queries for many patterns at once; the column n has the number of each among its own."""
    for start in range(0, len(patterns), _AT_A_TIME):
        some = patterns[start : start + _AT_A_TIME]
        groups = (f"{{ {_group(each)} BIND({n} AS ?n) }}" for n, each in enumerate(some))
        yield f"SELECT * {{ {' UNION '.join(groups)} }}", some


def with_prefixes(question: Question) -> str:
    """The query with the prefixes that it uses and does not declare."""
    used = {token.prefix for token in tokens(question.sparql)}
    declared = "".join(
        f"PREFIX {name}: <{start}> " for name, start in PREFIXES.items() if name in used
    )
    return declared + question.sparql


def names_graphs(question: Question) -> bool:
    """Whether a query says in which graphs something stands."""
    return any(token.is_word("GRAPH") for token in tokens(question.sparql))


def _group(pattern: Pattern) -> str:
    subject, predicate, object, graph = (
        f"?{column}" if part is None else str(part)
        for column, part in zip("spog", pattern, strict=True)
    )
    found = f"GRAPH {graph} {{ {subject} {predicate} {object} }}"
    return found if pattern[3] is not None else f"{found} {FROM_ALL}"
