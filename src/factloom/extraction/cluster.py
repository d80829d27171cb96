"""Extraction on many machines: Ray Data hands the blocks of a corpus to workers.

    report = extract_on_ray(Pipeline.load_later(), ["corpus"], Path("found"), address="auto")

What a worker is given is the number of a block; documents go through the directory, which all
machines have to see. A worker has the models once, in a process beside Ray's, so that a document
that kills it is found out and left out, as everywhere else. Who is lost costs the block that it
was reading: another reads it. A run that was stopped goes on with the blocks that are left.
"""

import logging
import os
import pickle
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from factloom.errors import FactloomError, InputError, ModelError, Place
from factloom.extraction.blocks import Corpus, Run
from factloom.extraction.crew import Crew
from factloom.extraction.report import Report
from factloom.extraction.worker import packed
from factloom.pipeline import Pipeline

_NUMBERS = 100 << 20  # bytes of memory for what Ray itself hands around, of a cluster of our own
_PATIENCE = 10.0  # seconds


def extract_on_ray(
    pipeline: Pipeline,
    inputs: Sequence[str],
    directory: Path,
    *,
    batch_size: int,
    format: str | None = None,
    workers: int | None = None,
    address: str | None = None,
) -> Report:
    """Read a corpus into the parts of a directory, by a cluster or the processors of this machine.

    `workers` is how many read at the same time; by default one a processor.
    """
    if "" in inputs:
        raise InputError("no-path")
    ray = _library()
    if address is not None:
        _require_answer(address)
    run = Run(_made(directory))
    run.begin(Corpus.of(inputs, format, batch_size, pipeline), inputs, pipeline)
    left = run.left()
    before = range(run.blocks) if not left else set(range(run.blocks)).difference(left)
    if left:
        task = {"directory": str(run.directory), "batch_size": batch_size}
        with _connected(ray, address):
            _hand_out(ray, left, {**task, "pipeline": packed(pipeline)}, workers)
    return run.report(before)


def _library() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise ModelError("ray-missing") from None
    return ray


def _require_answer(address: str) -> None:
    """Ask now, before the corpus is cut: Ray itself would try it for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "://" in address:  # a word such as "auto", or a client's address
        return
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except (OSError, ValueError, OverflowError) as error:
        detail = getattr(error, "strerror", None) or error
        raise InputError("ray-no-cluster", address=address, detail=detail) from None


def _made(directory: Path) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        detail = error.strerror or error
        raise InputError("file-unwritable", Place(file=str(directory)), detail=detail) from None
    return directory.resolve()


@contextmanager
def _connected(ray: Any, address: str | None) -> Iterator[None]:
    """Joined to a cluster, unless whoever called has done it: by its address, or one made here."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else Ray reports to its makers
    own = {"include_dashboard": False, "object_store_memory": _NUMBERS} if address is None else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (ConnectionError, ValueError, RuntimeError) as error:
        detail = " ".join(str(error).split())
        raise InputError("ray-no-cluster", address=address, detail=detail) from None
    try:
        yield
    finally:
        ray.shutdown()


def _hand_out(ray: Any, blocks: Sequence[int], task: dict[str, Any], workers: int | None) -> None:
    """Every block is one of Ray Data, too: a task that it gives out again until it is done."""
    logging.getLogger("ray.data").setLevel(logging.ERROR)  # what else it says is for its makers
    settings = ray.data.DataContext.get_current()
    settings.enable_progress_bars = sys.stderr.isatty()
    settings.print_on_execution_start = False
    rows = ray.data.from_items([{"block": n} for n in blocks], override_num_blocks=len(blocks))
    done = rows.map(_read_block, fn_kwargs=task, num_cpus=1, concurrency=workers)
    for row in done.iter_rows():
        if row["error"]:
            error: FactloomError = pickle.loads(row["error"])
            raise error


def _read_block(
    row: dict[str, Any], directory: str, batch_size: int, pipeline: bytes
) -> dict[str, Any]:
    """What a worker of Ray does."""
    try:
        Run(Path(directory)).read(int(row["block"]), _crew(pipeline), batch_size)
    except FactloomError as error:  # Ray would wrap it in its own
        return {**row, "error": pickle.dumps(error)}
    return {**row, "error": b""}


@lru_cache(maxsize=1)
def _crew(pipeline: bytes) -> Crew:
    """The models in a process that ends with this one; Ray gives it one block after the other."""
    return Crew(pickle.loads(pipeline), 1)
