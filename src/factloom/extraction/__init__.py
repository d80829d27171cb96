"""From files to outputs and a graph store: the engine of the command, of a service, of workers.

    >>> report = extract(pipeline, ["texts"], Targets(store=Path("graph")))  # doctest: +SKIP
    >>> report.documents, report.read_before, report.problems  # doctest: +SKIP

Documents stream through; a batch of them is in memory. What cannot be read is among the problems,
which can be sent from process to process; what cannot work at all is raised before work begins.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from factloom.document import Document
from factloom.errors import InputError
from factloom.extraction.cluster import extract_on_ray
from factloom.extraction.crew import Reader, opened_reader
from factloom.extraction.fan_out import Writer, fan_out, write_if_any
from factloom.extraction.linking import Linking, linked
from factloom.extraction.outputs import Targets
from factloom.extraction.passages import index_follows
from factloom.extraction.report import Report
from factloom.extraction.stored_names import with_stored_ids
from factloom.formats.gathering import Gathered, gather_files, with_own_ids
from factloom.pipeline import Pipeline

if TYPE_CHECKING:
    from factloom.graph.store import Store

BATCH_SIZE = 32
NO_LINKING = Linking()

__all__ = [
    "BATCH_SIZE",
    "Linking",
    "Report",
    "Targets",
    "extract",
    "extract_on_ray",
    "find",
    "not_yet_read",
]


def pass_over(documents: Iterable[Document]) -> None:
    """Read them all, and keep none."""
    deque(documents, maxlen=0)


def extract(
    pipeline: Pipeline,
    inputs: Sequence[str],
    targets: Targets,
    *,
    format: str | None = None,
    batch_size: int = BATCH_SIZE,
    workers: int = 1,
    linking: Linking = NO_LINKING,
    show: Writer = pass_over,
    done: Callable[[Document], object] = lambda _: None,
) -> Report:
    """Read files, directories and "-", standard input, into all targets at once.

    `show` gets the documents where there is no target; `done` is called with each that was read.
    Documents that the store has already, read by the same pipeline, are not read again. Several
    workers are processes beside this one, which alone writes: they find the same, in the same
    order.
    """
    if "" in inputs:
        raise InputError("no-path")
    targets.check(inputs)
    report = Report()
    gathered = gather_files(inputs, format, report.problems.append, leave_out=targets.written())
    version = linking.version(pipeline.version)
    with (
        targets.opened_store() as graph,
        index_follows(graph),
        linking.opened(graph) as links,
        opened_reader(pipeline, workers) as reader,
    ):
        documents = _named(gathered, graph)
        if graph is not None and not targets.files:
            documents = not_yet_read(documents, graph, pipeline, report, version)
        found = find(documents, reader, report, batch_size=batch_size, done=done)
        found = linked(found, links)
        writers = targets.writers(graph, pipeline.relation_names, version)
        write_if_any(found, partial(fan_out, writers=writers or [show]))
    return report


def find(
    documents: Iterable[Document],
    reader: Reader,
    report: Report,
    *,
    batch_size: int = BATCH_SIZE,
    done: Callable[[Document], object] = lambda _: None,
) -> Iterator[Document]:
    """The documents with what a pipeline, or a crew of them, finds, counted as they pass."""
    problems = report.problems.append
    stream = reader.stream(documents, batch_size=batch_size, problems=problems)
    for found in report.counting(stream):
        done(found)
        yield found


def not_yet_read(
    documents: Iterable[Document],
    graph: "Store",
    pipeline: Pipeline,
    report: Report,
    version: str | None = None,
) -> Iterator[Document]:
    """Without documents that the pipeline has read before: an extraction goes on where it was."""
    version = version or pipeline.version
    for document in documents:
        given = pipeline.given(document)
        if not given.relations and graph.has_read(given, model=version):
            report.read_before += 1
        else:
            yield document


def _named(gathered: Iterable[Gathered], graph: "Store | None") -> Iterator[Document]:
    """The documents, each with an id of its own: in this run, and in the store if there is one."""
    if graph is not None:
        return with_stored_ids(gathered, graph)
    return with_own_ids(found.document for found in gathered)
