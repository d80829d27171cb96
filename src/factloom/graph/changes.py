"""Changes to the store that are made all at once or not at all."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from factloom.graph.database import Database, Graph, Node, Pattern


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

    def __init__(self, disk: Database) -> None:
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

    def read_ahead(self, patterns: Iterable[Pattern]) -> None:
        """Have these at hand, as they are asked for soon; for a database that is far away."""
        self.disk.read_ahead(patterns)

    def write(self) -> None:
        """Make it so, in one transaction."""
        added = [*self._added, *self._waiting, *self._unseen]
        self.disk.write(self._dropped, self._removed, added)
