"""Texts of many requests are read together: thirty at once are faster than one thirty times.

    request 1  a b c ┐                   budget in characters
    request 2  d     ├─►  a d e b  │  c f     one batch after the other, in one thread
    request 3  e f   ┘

A batch waits some milliseconds for others to come, and takes a text of each request in turn, so
that a request of many texts does not hold up those of one. What waits is bounded; beyond, requests
are refused with the time after which to come again.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter

from factloom.document import Document
from factloom.errors import FactloomError, RequestError
from factloom.serving.metrics import Metrics
from factloom.serving.settings import ServiceSettings

Outcome = Document | FactloomError
ReadTogether = Callable[[list[Document]], list[Outcome]]

_SLOWEST_FIRST_GUESS = 2_000.0  # characters a second, before anything was measured
_LATEST = 0.2  # weight of the latest batch in what is known of the speed


@dataclass(eq=False, slots=True)
class _Request:
    """Documents on their way through batches; `found` is parallel to them."""

    documents: Sequence[Document]
    done: "asyncio.Future[None]"
    found: list[Outcome | None] = field(init=False)
    taken: int = 0
    missing: int = field(init=False)

    def __post_init__(self) -> None:
        self.found = [None] * len(self.documents)
        self.missing = len(self.documents)

    def characters_left(self) -> int:
        return sum(len(document.text) for document in self.documents[self.taken :])


class Batcher:
    """Gathers the documents of requests, and reads them together in a thread of its own."""

    def __init__(self, read: ReadTogether, settings: ServiceSettings, metrics: Metrics) -> None:
        self.settings = settings
        self.metrics = metrics
        self._read = read
        self._waiting: deque[_Request] = deque()
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._speed = _SLOWEST_FIRST_GUESS
        self._closing = False
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Finish what was accepted, and take nothing more."""
        self._closing = True
        self._arrived.set()
        if self._running is not None:
            await self._running
        self._thread.shutdown()

    async def read(self, documents: Sequence[Document]) -> list[Outcome]:
        """What is found in each document, or why nothing is; who stops to wait takes them back."""
        if not documents:
            return []
        request = _Request(documents, asyncio.get_running_loop().create_future())
        self._admit(request)
        self._waiting.append(request)
        self._arrived.set()
        await request.done
        return [outcome for outcome in request.found if outcome is not None]

    @property
    def waiting(self) -> int:
        """Characters that wait."""
        return sum(each.characters_left() for each in self._waiting if not each.done.done())

    def _admit(self, request: _Request) -> None:
        if self._closing:
            raise RequestError("service-ending")
        waiting = self.waiting
        if waiting and waiting + request.characters_left() > self.settings.waiting_characters:
            error = RequestError("service-busy", what="the model")
            error.retry_after = max(1, min(60, round(waiting / self._speed)))
            raise error

    # --- batches -------------------------------------------------------------------------------

    async def _run(self) -> None:
        while not (self._closing and not self._waiting):
            await self._arrived.wait()
            if self.waiting < self.settings.batch_characters and not self._closing:
                await asyncio.sleep(self.settings.batch_milliseconds / 1000)
            batch = self._take()
            if batch:
                await self._read_batch(batch)
            if not self._waiting and not self._closing:
                self._arrived.clear()

    def _take(self) -> list[tuple[_Request, int]]:
        """A text of each request in turn, until there are enough."""
        taken: list[tuple[_Request, int]] = []
        characters = 0
        while self._waiting:
            request = self._waiting.popleft()
            if request.done.done():  # nobody waits for it any more
                continue
            characters += len(request.documents[request.taken].text)
            if taken and characters > self.settings.batch_characters:
                self._waiting.appendleft(request)
                break
            taken.append((request, request.taken))
            request.taken += 1
            if request.taken < len(request.documents):
                self._waiting.append(request)
        return taken

    async def _read_batch(self, batch: Sequence[tuple[_Request, int]]) -> None:
        documents = [request.documents[place] for request, place in batch]
        began = perf_counter()
        try:
            loop = asyncio.get_running_loop()
            outcomes = await loop.run_in_executor(self._thread, self._read, documents)
        except Exception as error:
            for request, _ in batch:
                if not request.done.done():
                    request.done.set_exception(error)
            return
        self._measure(documents, perf_counter() - began)
        for (request, place), outcome in zip(batch, outcomes, strict=True):
            request.found[place] = outcome
            request.missing -= 1
            if not request.missing and not request.done.done():
                request.done.set_result(None)

    def _measure(self, documents: Sequence[Document], seconds: float) -> None:
        characters = sum(len(document.text) for document in documents)
        speed = characters / max(seconds, 1e-6)
        self._speed = (1 - _LATEST) * self._speed + _LATEST * speed
        self.metrics.observe("batch_documents", len(documents))
        self.metrics.observe("batch_seconds", seconds)
        self.metrics.count("documents_read", len(documents))
        self.metrics.count("characters_read", characters)
