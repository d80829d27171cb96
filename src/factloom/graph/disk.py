"""The database of a store. Whatever cannot be read of it is one clear error."""

from collections.abc import Iterable, Iterator

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from factloom.errors import InputError, Place

Node = NamedNode | Literal | Triple

DISK_FAILURES = (RuntimeError, OSError)  # a damaged file is a RuntimeError


class Disk:
    """pyoxigraph's store, as far as a graph needs it; `files` is where it is read, if elsewhere."""

    def __init__(self, database: pyoxigraph.Store, place: Place, files: str = "") -> None:
        self.database = database
        self.place = place
        self.files = files

    def quads_for_pattern(
        self,
        subject: NamedNode | None,
        predicate: NamedNode | None,
        object: Node | None,
        graph: NamedNode | BlankNode | DefaultGraph | None,
    ) -> Iterator[Quad]:
        # The error ends the search: pyoxigraph would give it again and again.
        try:
            yield from self.database.quads_for_pattern(subject, predicate, object, graph)
        except DISK_FAILURES as error:
            raise self.unreadable(error) from None

    def named_graphs(self) -> Iterator[NamedNode | BlankNode]:
        try:
            yield from self.database.named_graphs()
        except DISK_FAILURES as error:
            raise self.unreadable(error) from None

    def __iter__(self) -> Iterator[Quad]:
        return self.quads_for_pattern(None, None, None, None)

    def __len__(self) -> int:
        return len(self.database)

    def __contains__(self, quad: Quad) -> bool:
        try:
            return quad in self.database
        except DISK_FAILURES as error:
            raise self.unreadable(error) from None

    def extend(self, quads: Iterable[Quad]) -> None:
        self.database.extend(quads)

    def update(self, sparql: str) -> None:
        self.database.update(sparql)

    def flush(self) -> None:
        self.database.flush()

    def unreadable(self, error: Exception) -> InputError:
        """What the database says, about the files of the store."""
        detail = str(error)
        if self.files:
            detail = detail.replace(self.files, self.place.file or "")
        return InputError("store-unreadable", self.place, detail=detail)
