"""The database of a store in a directory. Whatever cannot be read of it is one clear error."""

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pyoxigraph
from pyoxigraph import BlankNode, NamedNode, Quad, Triple

from factloom.errors import InputError, Place
from factloom.graph.asking import Answer, Formats, Limits, ask
from factloom.graph.database import Graph, Node, Pattern
from factloom.graph.snapshot import Snapshot
from factloom.graph.sparql import Question
from factloom.graph.updates import change
from factloom.graph.vocabulary import CATALOGUE, REIFIES

DISK_FAILURES = (RuntimeError, OSError)  # a damaged file is a RuntimeError
_JOURNAL = 500_000  # quads; the journal has 0.7 kB of each, and keeps them all until it is emptied


class Disk:
    """pyoxigraph's store, as far as a graph needs it; of one that is only read, a snapshot."""

    is_far = False

    def __init__(
        self, database: pyoxigraph.Store, place: Place, snapshot: Snapshot | None = None
    ) -> None:
        self.database = database
        self.place = place
        self.snapshot = snapshot
        self._journalled = 0  # quads that are written, and safe, but in no table yet
        self._writing = threading.Lock()  # held while quads are written, or a snapshot is taken

    @property
    def directory(self) -> Path:
        return Path(self.place.file or "")

    def close(self) -> None:
        try:
            self.flush()  # else the next one to open it would have to wait for that
        finally:
            del self.database  # the last reference closes the files
            if self.snapshot is not None:
                self.snapshot.close()

    # --- reading -----------------------------------------------------------------------------

    def quads_for_pattern(
        self,
        subject: NamedNode | None,
        predicate: NamedNode | None,
        object: Node | None,
        graph: Graph | None,
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

    def tally(self, predicate: NamedNode) -> Counter[object]:
        # SPARQL would not end where a table is damaged.
        return Counter(quad.object for quad in self.quads_for_pattern(None, predicate, None, None))

    def relations(self) -> Counter[NamedNode]:
        reified = (quad.object for quad in self.quads_for_pattern(None, REIFIES, None, CATALOGUE))
        return Counter(each.predicate for each in reified if isinstance(each, Triple))

    def count(
        self, predicate: NamedNode, graph: Graph | None = None, *, but: Graph | None = None
    ) -> int:
        found = self.quads_for_pattern(None, predicate, None, graph)
        return sum(quad.graph_name != but for quad in found)

    def read_ahead(self, patterns: Iterable[Pattern]) -> None:
        """Nothing: no way is shorter than that to the disk."""

    def ask(self, question: Question, limits: Limits, formats: Formats) -> Answer:
        if self.snapshot is not None:
            return ask(self.snapshot.path, question, limits, self.place, formats)
        with ExitStack() as kept:
            snapshot = kept.enter_context(self._snapshot())
            answer = ask(snapshot.path, question, limits, self.place, formats)
            answer.afterwards = kept.pop_all()
        return answer

    def _snapshot(self) -> Snapshot:
        """The store as it is now, without its journal, whose files are kept when it is empty.

        They may be larger than all tables, and would have to be copied and read for every query.
        """
        with self._writing:
            self.flush()
            return Snapshot(self.directory, journals=False)

    # --- writing -----------------------------------------------------------------------------

    def write(
        self, dropped: Collection[NamedNode], removed: Collection[Quad], added: Collection[Quad]
    ) -> None:
        with self._writing:
            try:
                if removed or dropped:
                    self.database.update(change(dropped, removed, added))
                else:
                    self.database.extend(added)
            except DISK_FAILURES as error:
                raise self._not_written(error) from error
            self._journalled += len(removed) + len(dropped) + len(added)
            if self._journalled >= _JOURNAL:
                self._empty_journal()

    def flush(self) -> None:
        """Bring what is safe in the journal to its tables, from which others read it at once."""
        if self._journalled:
            self._empty_journal()

    def _empty_journal(self) -> None:
        """Bring what is written to its tables. Nothing is lost without, but the disk fills."""
        try:
            self.database.flush()
        except DISK_FAILURES as error:
            raise self._not_written(error) from error
        self._journalled = 0

    # --- errors ------------------------------------------------------------------------------

    def _not_written(self, error: Exception) -> InputError:
        return InputError("store-not-written", self.place, detail=error)

    def unreadable(self, error: Exception) -> InputError:
        """What the database says, about the files of the store."""
        detail = str(error)
        if self.snapshot is not None:
            detail = detail.replace(str(self.snapshot.path), self.place.file or "")
        return InputError("store-unreadable", self.place, detail=detail)
