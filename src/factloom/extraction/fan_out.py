"""One stream of documents into several writers at once, in bounded memory.

Writers pull: each wants an iterable to go through. The last one pulls the stream itself; each of
the others runs in a thread of its own and is handed what has passed, a few documents behind.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from queue import Queue
from threading import Thread

from factloom.document import Document

Writer = Callable[[Iterable[Document]], object]

AHEAD = 16  # documents that wait for a slower writer


class _AbandonedError(Exception):
    """Tells a writer that no more will come, so that it leaves no half file behind."""


def write_if_any(documents: Iterator[Document], write: Writer) -> None:
    """Let a writer begin when the first document is there: none is no reason to empty a file."""
    first = next(documents, None)
    if first is not None:
        write(chain([first], documents))


def fan_out(documents: Iterable[Document], writers: Sequence[Writer]) -> None:
    """Let every writer go through all documents; the first error stops them all."""
    *others, last = writers
    branches = [_Branch(writer) for writer in others]
    try:
        last(_handing_on(documents, branches))
    except BaseException:
        _end(branches, _AbandonedError())  # raises the error of a branch, if that was the first
        raise
    _end(branches, None)


def _end(branches: Sequence["_Branch"], last_item: "_AbandonedError | None") -> None:
    for branch in branches:
        branch.queue.put(last_item)
    for branch in branches:
        branch.thread.join()
    for branch in branches:
        if branch.error is not None:
            raise branch.error


def _handing_on(documents: Iterable[Document], branches: Sequence["_Branch"]) -> Iterator[Document]:
    for document in documents:
        for branch in branches:
            if branch.error is not None:
                raise _AbandonedError  # the error itself would look like the last writer's
            branch.queue.put(document)
        yield document


class _Branch:
    """A writer in its thread."""

    def __init__(self, writer: Writer) -> None:
        self.queue: Queue[Document | _AbandonedError | None] = Queue(maxsize=AHEAD)  # None: the end
        self.error: BaseException | None = None
        self._ended = False
        self.thread = Thread(target=self._run, args=(writer,))
        self.thread.start()

    def _run(self, writer: Writer) -> None:
        try:
            writer(self._documents())
        except _AbandonedError:
            pass
        except BaseException as error:
            self.error = error
        while not self._ended:  # whoever puts into the queue must not wait for a dead writer
            with suppress(_AbandonedError):
                self._next()

    def _documents(self) -> Iterator[Document]:
        while (document := self._next()) is not None:
            yield document

    def _next(self) -> Document | None:
        item = self.queue.get()
        self._ended = not isinstance(item, Document)
        if isinstance(item, _AbandonedError):
            raise item
        return item
