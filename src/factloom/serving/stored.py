"""The store of a service: one thread writes to it, several read, and none sees half a change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from factloom.graph.store import Store
from factloom.serving.settings import ServiceSettings
from factloom.serving.workers import SharedLock, Workers

Result = TypeVar("Result")


class ServedStore:
    """A store that is open as long as the service runs.

    Readers share it; who writes has it alone for the time of one document or correction. What is
    written is in the store's journal, on disk, before anybody is told.
    """

    def __init__(self, directory: Path, settings: ServiceSettings) -> None:
        self.directory = directory
        self.version = 0  # how many changes there have been
        self._store = Store.open(directory)
        self._lock = SharedLock()
        self._writer = Workers("the store", 1, settings.waiting_calls)
        self._readers = Workers("the store", settings.readers, settings.waiting_calls)

    async def read(self, work: Callable[[Store], Result]) -> Result:
        """What is found in the store, as it is between two changes."""

        def read() -> Result:
            with self._lock.shared():
                return work(self._store)

        return await self._readers.run(read)

    async def write(self, work: Callable[[Store], Result]) -> Result:
        """Change the store; when this returns, the change outlasts the service."""

        def write() -> Result:
            with self._lock.alone():
                try:
                    return work(self._store)
                finally:
                    self.version += 1

        return await self._writer.run(write)

    @contextmanager
    def snapshot(self) -> Iterator[Store]:
        """The store as it is now, for readers that take their time."""
        found = self.open_snapshot()
        try:
            yield found
        finally:
            found.close()

    def open_snapshot(self) -> Store:
        """The store as it is now, to be closed by whoever has it."""
        with self._lock.shared():
            self._store.flush()
            return Store.read(self.directory)

    def close(self) -> None:
        """Finish what was accepted, and let others have the store."""
        self._writer.close()
        self._readers.close()
        self._store.close()
