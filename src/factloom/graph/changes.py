"""Changes to the store that are made all at once or not at all."""

from collections.abc import Iterable, Iterator

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from factloom.graph.database import Database, Graph, Node, Pattern


def text_of(node: NamedNode | BlankNode | Literal | Triple) -> str:
    """The IRI or the text of a node; no triple is ever stored as a node."""
    assert not isinstance(node, Triple)
    return node.value


class Changes:
    """What a step wants to change, seen as if it had happened already.

    One ingest, deletion or split is many small changes, and some of them depend on others. They
    are gathered here and written in one transaction, so that a kill leaves either all or none.
    """

    def __init__(self, disk: Database) -> None:
        self.disk = disk
        self._removed: set[Quad] = set()
        self._added = pyoxigraph.Store()  # in memory
        self._has_added = False
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
        if self._has_added:  # a new document asks much before it adds anything
            yield from self._added.quads_for_pattern(subject, predicate, object, graph)

    def add(self, quad: Quad) -> None:
        if quad in self._removed:
            self._removed.discard(quad)
        else:
            self._added.add(quad)
            self._has_added = True

    def add_unseen(self, quads: Iterable[Quad]) -> None:
        """Add quads that nobody will ask for before they are written: cheaper than `add`."""
        self._unseen.extend(quads)

    def remove(self, quads: Iterable[Quad]) -> None:
        for quad in list(quads):
            self._added.remove(quad)
            if quad in self.disk:  # what was merely wanted may be wanted again
                self._removed.add(quad)

    def drop(self, graph: NamedNode) -> None:
        """Remove all quads of a graph."""
        self._dropped.add(graph)

    def read_ahead(self, patterns: Iterable[Pattern]) -> None:
        """Have these at hand, as they are asked for soon; for a database that is far away."""
        self.disk.read_ahead(patterns)

    def write(self) -> None:
        """Make it so, in one transaction."""
        self.disk.write(self._dropped, self._removed, [*self._added, *self._unseen])
