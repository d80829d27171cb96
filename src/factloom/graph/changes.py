"""Changes to the store that are made all at once or not at all."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from factloom.graph.disk import Disk, Node

Graph = NamedNode | DefaultGraph


class Readable(Protocol):
    """What quads are read from: changes to a store, or what is left of a damaged one."""

    def match(
        self,
        subject: NamedNode | None,
        predicate: NamedNode | None,
        object: Node | None,
        graph: Graph,
    ) -> Iterable[Quad]:
        """The quads of a graph that fit the pattern."""


def text_of(node: NamedNode | BlankNode | Literal | Triple) -> str:
    """The IRI or the text of a node that is no triple."""
    assert not isinstance(node, Triple)
    return node.value


def triple_of(quad: Quad) -> Triple:
    """The fact that a statement reifies."""
    assert isinstance(quad.object, Triple)
    return quad.object


class Changes:
    """What a step wants to change, seen as if it had happened already.

    One ingest, deletion or split is many small changes, and some of them depend on others. They
    are gathered here and written in one transaction, so that a kill leaves either all or none.
    """

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self._removed: set[Quad] = set()
        self._waiting: list[Quad] = []  # added, but nobody has asked for their like yet
        self._predicates: set[NamedNode] = set()  # of all that was added
        self._added = pyoxigraph.Store()  # in memory: those that were asked for
        self._unseen: list[Quad] = []
        self._dropped: set[NamedNode] = set()

    def match(
        self,
        subject: NamedNode | None,
        predicate: NamedNode | None,
        object: Node | None,
        graph: Graph,
    ) -> Iterator[Quad]:
        """The quads of a graph that fit the pattern."""
        if graph not in self._dropped:
            for quad in self.disk.quads_for_pattern(subject, predicate, object, graph):
                if quad not in self._removed:
                    yield quad
        # A new document asks much, and for nothing that it has added itself.
        if predicate in self._predicates or (predicate is None and self._predicates):
            yield from self._seen().quads_for_pattern(subject, predicate, object, graph)

    def add(self, quad: Quad) -> None:
        if quad in self._removed:
            self._removed.discard(quad)
        else:
            self._waiting.append(quad)
            self._predicates.add(quad.predicate)

    def add_unseen(self, quads: Iterable[Quad]) -> None:
        """Add quads that nobody will ask for before they are written: cheaper than `add`."""
        self._unseen.extend(quads)

    def remove(self, quads: Iterable[Quad]) -> None:
        for quad in list(quads):
            self._seen().remove(quad)
            if quad in self.disk:  # what was merely wanted may be wanted again
                self._removed.add(quad)

    def _seen(self) -> pyoxigraph.Store:
        """What was added, where it can be asked for."""
        self._added.extend(self._waiting)
        self._waiting.clear()
        return self._added

    def drop(self, graph: NamedNode) -> None:
        """Remove all quads of a graph."""
        self._dropped.add(graph)

    def write(self) -> int:
        """Make it so, in one transaction; how many quads were written."""
        added = [*self._added, *self._waiting, *self._unseen]
        if not self._removed and not self._dropped:
            self.disk.extend(added)
            return len(added)
        steps = [f"DROP SILENT GRAPH {graph}" for graph in self._dropped]
        steps += [_data("DELETE DATA", self._removed), _data("INSERT DATA", added)]
        self.disk.update("; ".join(steps))
        return len(self._removed) + len(self._dropped) + len(added)


def _data(operation: str, quads: Iterable[Quad]) -> str:
    by_graph: dict[object, list[str]] = {}
    for quad in quads:
        by_graph.setdefault(quad.graph_name, []).append(f"{quad.triple} .")
    blocks = (_block(graph, " ".join(triples)) for graph, triples in by_graph.items())
    return f"{operation} {{ {' '.join(blocks)} }}"


def _block(graph: object, triples: str) -> str:
    return triples if isinstance(graph, DefaultGraph) else f"GRAPH {graph} {{ {triples} }}"
