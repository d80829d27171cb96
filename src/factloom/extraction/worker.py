"""A process that reads batches of documents for another one, and what holds it there.

It ends when nobody holds the other end of its pipe any more: also when the process that began it
was killed. It minds no Ctrl-C, which goes to all processes of a terminal: who began it ends it.
"""

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from threading import Lock

from factloom.document import Document
from factloom.errors import ModelError
from factloom.formats.gathering import Problem
from factloom.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found in a batch, and what was wrong with the rest of it."""

    found: Sequence[Document] = ()
    problems: Sequence[Problem] = ()


@dataclass(frozen=True, slots=True)
class _Failure:
    """What the process could not do at all, for whoever asked."""

    error: Exception


class WorkerDiedError(Exception):
    """The process ended before it had answered."""


class WorkerStoppedError(Exception):
    """Nobody wants an answer any more."""


@dataclass(slots=True)
class Worker:
    """A process that is begun when it is first asked, and anew when it has died."""

    pipeline: bytes  # pickled
    threads: int  # of the process, for what computes
    _process: multiprocessing.process.BaseProcess | None = None
    _connection: Connection | None = None
    _stopped: bool = False
    _lock: Lock = field(default_factory=Lock)

    def read(self, batch: list[Document]) -> Answer:
        connection = self._running()
        try:
            connection.send(batch)
            answer = connection.recv()
        except (EOFError, OSError):
            raise WorkerDiedError(self._buried()) from None
        if isinstance(answer, _Failure):
            raise answer.error
        assert isinstance(answer, Answer)
        return answer

    def stop(self) -> None:
        """End the process, whatever it does, and begin none any more."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def join(self) -> None:
        """Wait until a stopped process is gone."""
        if self._process is not None:
            self._process.join()

    def _running(self) -> Connection:
        if self._connection is None:
            self._connection = self._begin()
            try:
                refusal = self._connection.recv()
            except (EOFError, OSError):
                raise ModelError("worker-not-started", detail=self._buried()) from None
            if isinstance(refusal, _Failure):
                self._buried()
                raise refusal.error
        return self._connection

    def _begin(self) -> Connection:
        # Not a copy of this process: its threads and open stores would be copied half.
        context = multiprocessing.get_context("spawn")
        with self._lock:
            if self._stopped:
                raise WorkerStoppedError
            here, there = context.Pipe()
            arguments = (there, self.pipeline, self.threads)
            self._process = context.Process(target=_serve, args=arguments, daemon=True)
            self._process.start()
            there.close()  # else its end would not be seen from here
        return here

    def _buried(self) -> str:
        """How the process ended, in words; the next one will be another."""
        with self._lock:
            if self._stopped:
                raise WorkerStoppedError
        assert self._process is not None
        assert self._connection is not None
        self._connection.close()
        self._connection = None
        self._process.join()
        status = self._process.exitcode or 0
        ended = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"worker {self._process.pid} {ended}"


def packed(pipeline: Pipeline) -> bytes:
    """The pipeline as it travels to a process: by the names of its models, if none is loaded."""
    try:
        return pickle.dumps(pipeline)
    except Exception as error:  # of any component, for any reason
        raise ModelError("worker-cannot-have", detail=error) from error


def _serve(connection: Connection, pipeline: bytes, threads: int) -> None:
    """What the process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))  # minded by all that computes
    try:
        model = _loaded(pipeline, threads)
        connection.send(model if isinstance(model, _Failure) else None)
        while isinstance(model, Pipeline):
            connection.send(_answer(model, connection.recv()))
    except (EOFError, BrokenPipeError):
        pass  # nobody asks any more


def _loaded(pipeline: bytes, threads: int) -> "Pipeline | _Failure":
    try:
        model: Pipeline = pickle.loads(pipeline)
        if "torch" in sys.modules:  # it has looked at the environment already
            sys.modules["torch"].set_num_threads(threads)
        model.wake()
    except Exception as error:
        return _failure(error)
    return model


def _answer(pipeline: Pipeline, batch: list[Document]) -> "Answer | _Failure":
    problems: list[Problem] = []
    try:
        return Answer(pipeline.read_batch(batch, problems.append), problems)
    except Exception as error:
        return _failure(error)


def _failure(error: Exception) -> _Failure:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # somebody else's, which cannot leave the process
        return _Failure(RuntimeError(f"{type(error).__name__}: {error}"))
    return _Failure(error)
