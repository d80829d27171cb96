"""Several processes read: each loads the models once, and has one batch of documents at a time.

    documents ──► batches ──► worker 1 ─┐
                         ├──► worker 2 ─┼──► what was found, in the order of the documents
                         └──► worker 3 ─┘

The batches are those that one process would read, so that the same is found in them. Only some
batches a worker are under way. A worker that dies is told and begun anew, and its batch is read
again; where it dies again, in halves, down to the document at fault, which becomes a problem.
"""

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import LifoQueue
from typing import Protocol, Self

from factloom.document import Document
from factloom.errors import ModelError, Place
from factloom.extraction.worker import Answer, Worker, WorkerDiedError, packed
from factloom.formats.gathering import Problem
from factloom.pipeline import Pipeline

AHEAD = 4  # batches a worker that are under way: being read, waiting for it, or for their turn
MOST_DEATHS = 20  # with no batch read between them: no document is at fault for so many


class Reader(Protocol):
    """What finds something in documents: a pipeline, or a crew that each have it."""

    def stream(
        self,
        documents: Iterable[Document],
        *,
        batch_size: int,
        problems: Callable[[Problem], object],
    ) -> Iterator[Document]: ...


@contextmanager
def opened_reader(pipeline: Pipeline, workers: int) -> Iterator[Reader]:
    """The pipeline in this process, or in several others."""
    if workers == 1:
        yield pipeline
        return
    with Crew(pipeline, workers) as crew:
        yield crew


class Crew:
    """Workers that share what comes; when it is left, whatever they do, they are ended."""

    def __init__(self, pipeline: Pipeline, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"there has to be at least 1 worker, not {workers}")
        self._pipeline = pipeline
        threads = max(1, _processors() // workers)
        self._workers = [Worker(packed(pipeline), threads) for _ in range(workers)]
        self._free: LifoQueue[Worker] = LifoQueue()  # who has a model is asked first
        for worker in self._workers:
            self._free.put(worker)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="worker")
        self._deaths = 0  # since a batch was read

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.join()

    def stream(
        self,
        documents: Iterable[Document],
        *,
        batch_size: int,
        problems: Callable[[Problem], object],
    ) -> Iterator[Document]:
        """What is found, document by document in their order, as `Pipeline.stream` gives it."""
        batches = self._pipeline.batches(documents, batch_size=batch_size, problems=problems)
        for answer in self._answers(batches):
            for problem in answer.problems:
                problems(problem)
            yield from answer.found

    def _answers(self, batches: Iterable[list[Document]]) -> Iterator[Answer]:
        waiting: deque[Future[Answer]] = deque()
        for batch in batches:
            waiting.append(self._threads.submit(self._read, batch))
            if len(waiting) >= AHEAD * len(self._workers):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _read(self, batch: list[Document]) -> Answer:
        worker = self._free.get()
        try:
            return self._read_with(worker, batch, again=True)
        finally:
            self._free.put(worker)

    def _read_with(self, worker: Worker, batch: list[Document], *, again: bool) -> Answer:
        try:
            answer = worker.read(batch)
        except WorkerDiedError as death:
            return self._read_after(death, worker, batch, again=again)
        self._deaths = 0
        return answer

    def _read_after(
        self, death: WorkerDiedError, worker: Worker, batch: list[Document], *, again: bool
    ) -> Answer:
        """What another process finds, in parts if it was not the first to die of the batch."""
        self._deaths += 1
        if self._deaths == MOST_DEATHS:
            raise ModelError("workers-die", count=MOST_DEATHS, detail=death)
        if len(batch) == 1 and not again:
            place = Place(file=batch[0].source, document=batch[0].id)
            return Answer(problems=[Problem(place, ModelError("worker-died", place, detail=death))])
        told = f"{death} while it read {_described(batch)}: read again by another"
        warnings.warn(told, RuntimeWarning, stacklevel=2)
        if again:
            return self._read_with(worker, batch, again=False)
        middle = len(batch) // 2
        parts = [
            self._read_with(worker, half, again=False) for half in (batch[:middle], batch[middle:])
        ]
        found = [document for part in parts for document in part.found]
        return Answer(found, [problem for part in parts for problem in part.problems])


def _processors() -> int:
    """Those that this process may use, where the system says it."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _described(batch: list[Document]) -> str:
    return f"{len(batch)} documents from {batch[0].id!r} on"
