"""Changes to a graph at an endpoint, each made by one request, which is made so or not.

SPARQL has no lock and no number of the version. So the store has a mark, which every change
exchanges for a new one and is bound to the old one by its WHERE: if somebody else has written since
this writer has last looked, nothing at all happens, and the mark tells so afterwards. It also tells
whether a request has been carried out whose answer was lost.

What is too long for one request waits in graphs of its own, piece by piece, and the request that
changes the mark moves it to where it belongs. A writer that is killed leaves at most such graphs
behind. Nobody's look-up sees them, and the next writer removes them.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Quad

from factloom.graph.endpoint.portable import CATALOGUE_THERE
from factloom.graph.opening import STORE
from factloom.graph.updates import block, by_graph
from factloom.graph.vocabulary import term

MARK = term("fl:mark")
WAITING = "urn:factloom:waiting:"  # begins the names of the graphs of pieces

PIECE = 400_000  # characters; what stands in front of a server often takes no megabyte


@dataclass(frozen=True, slots=True)
class Step:
    """A change and the requests that make it: `pieces` in their order, and `last` of all."""

    pieces: tuple[str, ...]
    last: str


def guarded_step(
    old: str,
    new: str,
    dropped: Collection[NamedNode],
    removed: Collection[Quad],
    added: Collection[Quad],
) -> Step:
    """What drops graphs, and then removes and adds quads, where the mark is the old one."""
    moves = [("DELETE", f"{{ GRAPH {graph} {{ ?s ?p ?o }} }}", graph) for graph in dropped]
    steps = [_where_marked(old, f"{word} {template}", graph) for word, template, graph in moves]
    exchange = mark_quad(old), mark_quad(new)
    whole = _exchange(old, [*removed, exchange[0]], [*added, exchange[1]])
    if len(whole) <= PIECE:
        return Step((), "; ".join([*steps, whole]))
    pieces: list[str] = []
    waiting: list[NamedNode] = []
    for word, quads in (("DELETE", removed), ("INSERT", added)):
        for graph, triples in by_graph(quads).items():
            place = NamedNode(f"{WAITING}{new}:{len(waiting)}")
            waiting.append(place)
            pieces += (f"INSERT DATA {{ GRAPH {place} {{ {part} }} }}" for part in _parts(triples))
            steps.append(_where_marked(old, f"{word} {{ GRAPH {graph} {{ ?s ?p ?o }} }}", place))
    steps.append(_exchange(old, [exchange[0]], [exchange[1]]))
    steps += (f"DROP SILENT GRAPH {place}" for place in waiting)
    return Step(tuple(pieces), "; ".join(steps))


def first_step(new: str, quads: Collection[Quad]) -> str:
    """What makes a store where there is none."""
    nothing = f"FILTER NOT EXISTS {{ GRAPH {CATALOGUE_THERE} {{ {STORE} {MARK} ?any }} }}"
    return f"INSERT {{ {block([*quads, mark_quad(new)])} }} WHERE {{ {nothing} }}"


def mark_quad(mark: str) -> Quad:
    return Quad(STORE, MARK, Literal(mark), CATALOGUE_THERE)


def _exchange(old: str, removed: Collection[Quad], added: Collection[Quad]) -> str:
    changed = f"DELETE {{ {block(removed)} }} INSERT {{ {block(added)} }}"
    return f"{changed} WHERE {{ {block([mark_quad(old)])} }}"


def _where_marked(old: str, change: str, graph: NamedNode) -> str:
    """A change for each triple of a graph."""
    return f"{change} WHERE {{ {block([mark_quad(old)])} GRAPH {graph} {{ ?s ?p ?o }} }}"


def _parts(triples: Collection[str]) -> Iterator[str]:
    """Triples together, as many as are no longer than a piece."""
    part: list[str] = []
    length = 0
    for triple in triples:
        if part and length + len(triple) > PIECE:
            yield " ".join(part)
            part, length = [], 0
        part.append(triple)
        length += len(triple) + 1
    yield " ".join(part)
