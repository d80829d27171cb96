"""`factloom extract`: files in, entities and relations with evidence out."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from factloom.cli.fan_out import Writer, fan_out, write_if_any
from factloom.cli.predict import check_writable
from factloom.cli.progress import reading_progress
from factloom.cli.stored_names import with_stored_ids
from factloom.document import Document
from factloom.errors import InputError, ModelError, Place

if TYPE_CHECKING:
    from factloom.formats.gathering import Gathered, Problem
    from factloom.graph.store import Store
    from factloom.pipeline import Pipeline
    from factloom.schema import SchemaSettings

DOCUMENT_SUFFIXES = (".jsonl", ".ndjson", ".json")  # formats that hold what is found


def extract(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="FILE|DIR|-", help="Texts to read; - is standard input."),
    ],
    model: Annotated[
        str, typer.Option(help="The model that ships, a model directory, or a hub name.")
    ] = "factloom-en-small",
    output: Annotated[
        list[Path] | None,
        typer.Option(
            help="Where to write, by suffix: .jsonl .json .ttl .nq .jsonld .graphml .csv .html. "
            "May be repeated; tables are printed without it."
        ),
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Add the facts to the graph store in this directory.")
    ] = None,
    language: Annotated[
        Literal["en", "zh"] | None, typer.Option(help="Insist on a model for this language.")
    ] = None,
    relations: Annotated[
        str | None,
        typer.Option(help="Keep only these: ids or names, such as founded_by,P17."),
    ] = None,
    thresholds: Annotated[
        Path | None,
        typer.Option(help="Least scores (and type constraints) a relation: a TOML or JSON file."),
    ] = None,
    minimum_score: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Least score of relations without a threshold."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="The format of the inputs, where they do not tell.")
    ] = None,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Documents given to the model, and held, at a time.")
    ] = 32,
) -> None:
    """Find entities, relations and evidence in texts."""
    from factloom.formats.gathering import gather_files

    problems: list[Problem] = []
    outputs = output or []
    own = [*_written_files(outputs), *([store] if store else [])]
    gathered = gather_files(inputs, format, problems.append, leave_out=own)
    _check_outputs(outputs, inputs)
    settings = _settings(relations, thresholds, minimum_score)

    import factloom

    pipeline = factloom.load(model, **settings)
    _check_language(pipeline, language)
    counts = _Counts()
    with _opened(store) as graph, reading_progress(inputs, shown=bool(outputs or store)) as done:
        documents = _named(gathered, graph)
        asked = _with_entities_if_needed(documents, pipeline, problems.append)
        if graph is not None and not outputs:
            asked = _not_yet_read(asked, graph, pipeline, counts)
        found = pipeline.stream(asked, batch_size=batch_size, problems=problems.append)
        writers = _writers(pipeline, outputs, graph)
        write_if_any(counts.counted(found, done), partial(fan_out, writers=writers))
    for path in outputs:
        typer.echo(f"{path}: {counts if counts.documents else 'nothing written'}", err=True)
    if store:
        came = counts.documents or counts.read_before
        typer.echo(f"{store}: {counts if came else 'nothing written'}", err=True)
    for problem in problems:
        typer.echo(f"problem: {problem.error}", err=True)
    if problems:
        raise typer.Exit(1)


def _settings(
    relations: str | None, thresholds: Path | None, minimum_score: float | None
) -> "SchemaSettings":
    """What the file says, and over it what the options say."""
    from factloom.schema import read_schema_file

    settings: SchemaSettings = read_schema_file(thresholds) if thresholds is not None else {}
    if relations is not None:
        settings["relations"] = [name.strip() for name in relations.split(",") if name.strip()]
    if minimum_score is not None:
        settings["minimum_score"] = minimum_score
    return settings


def _check_language(pipeline: "Pipeline", language: str | None) -> None:
    if language is not None and pipeline.languages and language not in pipeline.languages:
        known = ", ".join(pipeline.languages)
        place = Place(file=pipeline.name)
        raise ModelError("other-language", place, language=language, known=known)


def _with_entities_if_needed(
    documents: Iterable[Document], pipeline: "Pipeline", problems: Callable[["Problem"], None]
) -> Iterator[Document]:
    """Without documents that have no entities, if the model does not find them itself."""
    from factloom.formats.gathering import Problem

    for document in documents:
        if pipeline.task == "relations" and not document.entities:
            place = Place(file=document.source, document=document.id)
            problems(Problem(place, ModelError("entities-needed", place)))
        else:
            yield document


def _named(gathered: Iterable["Gathered"], graph: "Store | None") -> Iterator[Document]:
    """The documents, each with an id of its own: in this run, and in the store if there is one."""
    from factloom.formats.gathering import with_own_ids

    if graph is not None:
        return with_stored_ids(gathered, graph)
    return with_own_ids(found.document for found in gathered)


def _not_yet_read(
    documents: Iterable[Document], graph: "Store", pipeline: "Pipeline", counts: "_Counts"
) -> Iterator[Document]:
    """Without documents that this model has read before: an extraction goes on where it was."""
    version = pipeline.version
    for document in documents:
        seen = document if pipeline.task == "relations" else document.without_mentions()
        if graph.has_read(seen, model=version):
            counts.read_before += 1
        else:
            yield document


# --- outputs -------------------------------------------------------------------------------------


def _check_outputs(outputs: Sequence[Path], inputs: Sequence[str]) -> None:
    """Raise now what would otherwise be raised after a long extraction.

    An output within a directory that is read is none of the inputs: it may be that of the last run.
    """
    from factloom.graph.exports import check_suffix, graph_suffix

    for path in outputs:
        if graph_suffix(path) not in DOCUMENT_SUFFIXES:
            check_suffix(path, also=DOCUMENT_SUFFIXES)
    files = _written_files(outputs)
    for number, file in enumerate(files):
        if file.resolve() in {other.resolve() for other in files[:number]}:
            raise InputError("repeated-output", Place(file=str(file)))
        check_writable(file, inputs)


def _written_files(outputs: Iterable[Path]) -> list[Path]:
    """The files that the outputs are written to: a table (CSV) is two of them."""
    from factloom.graph.exports import csv_files, graph_suffix

    files = []
    for path in outputs:
        if graph_suffix(path) == ".csv":
            files += [csv_files.beside(path, part) for part in ("nodes", "relationships")]
        else:
            files.append(path)
    return files


def _is_graph(path: Path) -> bool:
    from factloom.graph.exports import SUFFIXES, graph_suffix

    return graph_suffix(path) in SUFFIXES


def _writers(pipeline: "Pipeline", outputs: Sequence[Path], graph: "Store | None") -> list[Writer]:
    """What becomes of the documents; tables for the terminal where nothing else is asked for."""
    from factloom import formats
    from factloom.graph.exports import write_graph

    names, version = pipeline.relation_names, pipeline.version
    writers: list[Writer] = [
        partial(write_graph, path=path, relation_names=names, model=version)
        if _is_graph(path)
        else partial(formats.write, path=path)
        for path in outputs
    ]
    if graph is not None:
        writers.append(partial(graph.ingest, relation_names=names, model=version))
    return writers or [partial(_show, pipeline)]


@contextmanager
def _opened(store: Path | None) -> Iterator["Store | None"]:
    """The store; a new one that no document came into is taken away again."""
    if store is None:
        yield None
        return
    from factloom.graph.store import Store

    is_new = not os.path.lexists(store)
    with Store.open(store) as graph:
        yield graph
        is_unused = is_new and next(graph.document_ids(), None) is None
    if is_unused:
        shutil.rmtree(store)


def _show(pipeline: "Pipeline", documents: Iterable[Document]) -> None:
    from factloom.cli import tables

    tables.show(documents, pipeline.relation_names, tables.make_console())


class _Counts:
    """What has passed so far."""

    def __init__(self) -> None:
        self.documents = self.entities = self.relations = self.read_before = 0

    def counted(
        self, documents: Iterable[Document], done: Callable[[Document], None]
    ) -> Iterator[Document]:
        for document in documents:
            self.documents += 1
            self.entities += len(document.entities)
            self.relations += len(document.relations)
            done(document)
            yield document

    def __str__(self) -> str:
        parts = ("documents", "entities", "relations")
        counts = ", ".join(f"{getattr(self, part):,} {part}" for part in parts)
        return f"{counts}; {self.read_before:,} read before" if self.read_before else counts
