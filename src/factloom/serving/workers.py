"""Threads for what would hold up the others, and a bound on what may wait for them."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

from factloom.errors import RequestError

Result = TypeVar("Result")


class Workers:
    """Some threads: what comes waits for one of them, up to a bound, and is refused beyond.

    Who stops to wait takes work back that has not begun.
    """

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self.name = name
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._room = threading.BoundedSemaphore(threads + waiting)

    async def run(self, work: Callable[[], Result]) -> Result:
        """What the work returns, or raises."""
        if not self._room.acquire(blocking=False):
            raise RequestError("service-busy", what=self.name)
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: self._room.release())
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Finish what was accepted, and take nothing more."""
        self._pool.shutdown()


class Turns:
    """Some at once: others wait for their turn, up to a bound, and are refused beyond."""

    def __init__(self, name: str, at_once: int, waiting: int) -> None:
        self.name = name
        self._most = at_once + waiting
        self._inside = 0
        self._at_once = asyncio.Semaphore(at_once)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        if self._inside >= self._most:
            raise RequestError("service-busy", what=self.name)
        self._inside += 1
        try:
            async with self._at_once:
                yield
        finally:
            self._inside -= 1


class SharedLock:
    """Many hold it together, or one alone; who wants it alone comes before others that share it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharing = 0
        self._alone = False
        self._want_alone = 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone and not self._want_alone)
            self._sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._want_alone += 1
            try:
                self._changed.wait_for(lambda: not self._alone and not self._sharing)
            finally:
                self._want_alone -= 1
            self._alone = True
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()
