"""The index of a store's passages keeps up with what is taken in and removed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from factloom.graph.store import Store


@contextmanager
def index_follows(graph: "Store | None") -> Iterator[None]:
    """Bring the index of a store up to date with what is done to the store inside.

    A store without index gets none. What the index would need, and is not installed, is told
    before anything is done. After an error, or a kill, the next one that opens the index brings
    it up to date.
    """
    beside = None if graph is None else graph.disk.directory
    if graph is None or beside is None or not (beside / "passages").is_dir():
        yield
        return
    from factloom.answers.index import keep_up

    yield
    keep_up(graph)
