"""Changes of quads as SPARQL 1.1 Update."""

from collections.abc import Collection, Iterable, Mapping

from pyoxigraph import DefaultGraph, NamedNode, Quad


def change(
    dropped: Collection[NamedNode], removed: Collection[Quad], added: Collection[Quad]
) -> str:
    """Drop graphs, then remove and add quads."""
    steps = [f"DROP SILENT GRAPH {graph}" for graph in dropped]
    steps += [f"DELETE DATA {{ {block(removed)} }}", f"INSERT DATA {{ {block(added)} }}"]
    return "; ".join(steps)


def block(quads: Iterable[Quad]) -> str:
    """Quads as they stand between the braces of an update."""
    return " ".join(
        _in_graph(graph, " ".join(triples)) for graph, triples in by_graph(quads).items()
    )


def by_graph(quads: Iterable[Quad]) -> Mapping[object, list[str]]:
    """The triples of each graph, as an update has them."""
    found: dict[object, list[str]] = {}
    for quad in quads:
        found.setdefault(quad.graph_name, []).append(f"{quad.triple} .")
    return found


def _in_graph(graph: object, triples: str) -> str:
    return triples if isinstance(graph, DefaultGraph) else f"GRAPH {graph} {{ {triples} }}"
