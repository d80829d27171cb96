"""Patterns of quads as SPARQL, with no word about the default graph, which each server sees anew.

Only graphs of a store are looked at, so that others may stand at the same endpoint.
"""

from collections.abc import Iterable, Iterator, Sequence

from pyoxigraph import NamedNode, Quad, QuerySolution, Triple

from factloom.graph.database import Pattern
from factloom.graph.endpoint.portable import (
    PARTS,
    carried_here,
    graph_here,
    graph_there,
    reification,
)
from factloom.graph.endpoint.writing import WAITING
from factloom.graph.sparql import Question
from factloom.graph.sparql_tokens import tokens
from factloom.graph.vocabulary import PREFIXES, REIFIES

# The graphs of a store; what still waits to be a part of one is none.
FROM_ALL = f'FILTER(STRSTARTS(STR(?g), "urn:factloom:") && !STRSTARTS(STR(?g), "{WAITING}"))'

_AT_A_TIME = 200  # patterns in one query


def pattern_query(pattern: Pattern) -> str:
    """Columns s, p, o and g for what the pattern does not say; h, r and t for a triple term."""
    return f"SELECT * {{ {_group(pattern)} }}"


def numbered_patterns(patterns: Sequence[Pattern]) -> Iterator[tuple[str, Sequence[Pattern]]]:
    """Queries for many patterns at once; the column n has the number of each among its own."""
    for start in range(0, len(patterns), _AT_A_TIME):
        some = patterns[start : start + _AT_A_TIME]
        groups = (f"{{ {_group(each)} BIND({n} AS ?n) }}" for n, each in enumerate(some))
        yield f"SELECT * {{ {' UNION '.join(groups)} }}", some


def quads_of(rows: Iterable[QuerySolution], pattern: Pattern) -> Iterator[Quad]:
    """The quads of a store that rows of its pattern tell of."""
    if _is_about_triples(pattern):
        return (_reified(row, pattern) for row in rows)
    found = (_quad(row, pattern) for row in rows)
    return carried_here(found) if pattern[1] is None else found


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
    subject, predicate, object, graph = pattern
    whose = "?s" if subject is None else str(subject)
    where = "?g" if graph is None else str(graph_there(graph))
    if _is_about_triples(pattern):
        asked = object if isinstance(object, Triple) else ("?h", "?r", "?t")
        said = "; ".join(f"{part} {node}" for part, node in zip(PARTS, asked, strict=True))
    else:
        said = f"{'?p' if predicate is None else predicate} {'?o' if object is None else object}"
    found = f"GRAPH {where} {{ {whose} {said} }}"
    return found if graph is not None else f"{found} {FROM_ALL}"


def _is_about_triples(pattern: Pattern) -> bool:
    return pattern[1] == REIFIES or isinstance(pattern[2], Triple)


def _quad(row: QuerySolution, pattern: Pattern) -> Quad:
    """The quad of a row, which has columns for what the pattern does not say."""
    subject, predicate, object, graph = pattern
    return Quad(
        row["s"] if subject is None else subject,
        row["p"] if predicate is None else predicate,
        row["o"] if object is None else object,
        graph_here(row["g"]) if graph is None else graph,
    )


def _reified(row: QuerySolution, pattern: Pattern) -> Quad:
    subject, _, object, _ = pattern
    told = object if isinstance(object, Triple) else (row["h"], row["r"], row["t"])
    whose = row["s"] if subject is None else subject
    assert isinstance(whose, NamedNode)
    return reification(whose, *told)
