"""Queries are answered by a process of their own, which can be ended.

    with ask(directory, question(sparql), Limits(seconds=10), place, Formats()) as answer:
        for row in answer:
            print(row["name"].value)

A query may need any time and any memory, and some end the process that answers them. So each has a
process with limits, rows are passed on as they come, and whoever stops to listen ends it.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self, cast

from pyoxigraph import QueryResultsFormat, QuerySolutions, RdfFormat, parse, parse_query_results

from factloom.errors import InputError, Place
from factloom.graph.query_process import FAILED
from factloom.graph.sparql import Question, syntax_error
from factloom.graph.vocabulary import PREFIXES

_PIECE = 1 << 16  # bytes
_KINDS = {b"s": "solutions", b"t": "triples", b"b": "boolean"}
_NO_STACK = ("SIGSEGV", "SIGBUS", "SIGILL")
_NO_MEMORY = ("SIGABRT", "SIGKILL")  # the system kills what takes all of it
_NO_TIME = ("SIGXCPU",)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a query may take; None is no limit."""

    seconds: float | None = 60.0  # of waiting for the answer, or of a processor
    memory: int | None = 2 << 30  # bytes


@dataclass(frozen=True, slots=True)
class Formats:
    """How the process writes the answer, by the suffixes of the formats."""

    solutions: str = "tsv"
    triples: str = "nt"


def ask(
    directory: Path,
    question: Question,
    limits: Limits,
    place: Place,
    formats: Formats,
) -> "Answer":
    """Start to answer a query from the files of a directory, which nobody changes meanwhile."""
    request = {
        "directory": str(directory),
        "sparql": question.sparql,
        "all_graphs": question.all_graphs,
        "prefixes": PREFIXES,
        "solutions_as": formats.solutions,
        "triples_as": formats.triples,
        "seconds": limits.seconds,
        "bytes": limits.memory,
    }
    return Answer(request, limits, place, formats)


class Answer:
    """The answer to a query as it comes: rows, triples, or a truth value.

    Its `kind` is "solutions" (SELECT), "triples" (CONSTRUCT, DESCRIBE) or "boolean" (ASK).
    """

    def __init__(
        self, request: dict[str, Any], limits: Limits, place: Place, formats: Formats
    ) -> None:
        self.sparql: str = request["sparql"]
        self.limits, self.place, self.formats = limits, place, formats
        self.afterwards = ExitStack()  # what to do when it is closed
        self._seconds_left = limits.seconds
        self._late = False
        self._received = memoryview(b"")
        self._rows: QuerySolutions | None = None
        self._process = _start()
        try:
            self._send(request)
            self.kind = self._first_letter()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if "_process" in vars(self):
            self.close()

    def close(self) -> None:
        """End the process; nothing happens to one that has ended."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self.afterwards.close()

    # --- what it says ------------------------------------------------------------------------

    def __bool__(self) -> bool:
        """Of ASK, whether it is so; of others, as any object is."""
        if self.kind != "boolean":
            return True
        return bool(json.loads(b"".join(self.pieces()))["boolean"])

    @property
    def variables(self) -> list[str]:
        """The names of the columns of solutions."""
        return [variable.value for variable in self._solutions().variables]

    def __iter__(self) -> Iterator[Any]:
        """pyoxigraph's solutions, or its triples."""
        try:
            if self.kind == "solutions":
                yield from self._solutions()
            else:
                format = RdfFormat.from_extension(self.formats.triples)
                yield from (quad.triple for quad in parse(cast(IO[bytes], self), format))
        except (SyntaxError, OSError):  # it breaks off
            self._check_end()
            raise
        else:
            self._check_end()
        finally:
            self.close()

    def pieces(self) -> Iterator[bytes]:
        """The bytes of the answer, in the format that was asked for."""
        try:
            while piece := self.read(_PIECE):
                yield piece
            self._check_end()
        finally:
            self.close()

    def read(self, size: int) -> bytes:
        """Some of these bytes, at most `size`; none at the end."""
        if not self._received:  # who reads a few at a time does not wait each time
            self._received = self._receive()
        piece, self._received = self._received[:size], self._received[size:]
        return bytes(piece)

    # --- inside ------------------------------------------------------------------------------

    def _receive(self) -> memoryview:
        """What the process has written, when it has; the time of waiting counts."""
        assert self._process.stdout is not None
        began = time.monotonic()
        clock = None
        if self._seconds_left is not None:
            clock = threading.Timer(max(self._seconds_left, 0.0), self._end_late)
            clock.daemon = True
            clock.start()
        try:
            return memoryview(os.read(self._process.stdout.fileno(), _PIECE))
        finally:
            if clock is not None and self._seconds_left is not None:
                clock.cancel()
                self._seconds_left -= time.monotonic() - began

    def _solutions(self) -> QuerySolutions:
        if self._rows is None:
            format = QueryResultsFormat.from_extension(self.formats.solutions)
            rows = parse_query_results(cast(IO[bytes], self), format)
            assert isinstance(rows, QuerySolutions)
            self._rows = rows
        return self._rows

    def _send(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode())
            self._process.stdin.close()
        except OSError:  # it has ended; why, is known when its answer is missed
            pass

    def _first_letter(self) -> str:
        letter = self.read(1)
        if not letter:
            self._check_end()
        return _KINDS[letter]

    def _end_late(self) -> None:
        self._late = True
        self._process.kill()

    def _check_end(self) -> None:
        """An error if the process did not come to its end."""
        status = self._process.wait()
        if status != 0:
            raise self._failure(status)

    def _failure(self, status: int) -> BaseException:
        assert self._process.stderr is not None
        told = self._process.stderr.read().decode("utf-8", "replace")
        name = signal.Signals(-status).name if status < 0 else ""
        if name == "SIGINT":
            return KeyboardInterrupt()
        if self._late or name in _NO_TIME:
            return InputError("query-time", self.place, seconds=f"{self.limits.seconds:g}")
        if status == FAILED:
            reason = json.loads(told.strip().rpartition("\n")[2])
            return self._reason(reason["kind"], reason["detail"])
        if name in _NO_STACK:
            return InputError("query-complex", self.place)
        if name in _NO_MEMORY:
            return self._no_memory()
        return InputError("query-failed", self.place, detail=told.strip() or f"status {status}")

    def _reason(self, kind: str, detail: str) -> InputError:
        if kind == "SyntaxError":
            return syntax_error(self.sparql, detail)
        if kind == "MemoryError":
            return self._no_memory()
        if detail.startswith("Corruption"):
            return InputError("store-unreadable", self.place, detail=detail)
        return InputError("query-failed", self.place, detail=detail)

    def _no_memory(self) -> InputError:
        most = "all" if self.limits.memory is None else f"{self.limits.memory >> 20:,} MB"
        return InputError("query-memory", self.place, most=most)


def _start() -> "subprocess.Popen[bytes]":
    # The path of this process, and not the directory that it happens to be in.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "factloom.graph.query_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
