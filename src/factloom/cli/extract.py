"""`factloom extract`: files in, entities and relations with evidence out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from factloom.cli.fan_out import Writer, fan_out
from factloom.cli.predict import check_writable
from factloom.cli.progress import reading_progress
from factloom.document import Document
from factloom.errors import InputError, ModelError, Place

if TYPE_CHECKING:
    from factloom.formats.gathering import Problem
    from factloom.graph.store import Store
    from factloom.pipeline import Pipeline
    from factloom.schema import SchemaSettings


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
            help="Where to write, by suffix: .jsonl .ttl .nq .jsonld .graphml .csv .html. "
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
    from factloom.formats.gathering import gather

    problems: list[Problem] = []
    documents = gather(inputs, format=format, skipped=problems.append)
    outputs = output or []
    for path in outputs:
        _check_output(path)
    settings = _settings(relations, thresholds, minimum_score)

    import factloom

    pipeline = factloom.load(model, **settings)
    _check_language(pipeline, language)
    counts = _Counts()
    with _opened(store) as graph, reading_progress(inputs, shown=bool(outputs or store)) as done:
        asked = _with_entities_if_needed(documents, pipeline, problems.append)
        if graph is not None:
            asked = _told_apart(asked, graph)
        if graph is not None and not outputs:
            asked = _not_yet_read(asked, graph, pipeline, counts)
        found = pipeline.stream(asked, batch_size=batch_size, problems=problems.append)
        fan_out(counts.counted(found, done), _writers(pipeline, outputs, graph))
    for place in (*outputs, *([store] if store else [])):
        typer.echo(f"{place}: {counts}", err=True)
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
            place = Place(file=document.attributes.get("source"), document=document.id)
            problems(Problem(place, ModelError("entities-needed", place)))
        else:
            yield document


def _told_apart(documents: Iterable[Document], graph: "Store") -> Iterator[Document]:
    """Files of one name in two folders stay two documents: the later one is called by its path."""
    for document in documents:
        source, known = document.attributes.get("source"), graph.source(document.id)
        if source is None or known is None or _same_file(source, known):
            yield document
        else:
            yield document.replace(id=Path(source).as_posix())


def _same_file(one: str, other: str) -> bool:
    """Whether two paths can mean one file, seen from two folders."""
    shorter, longer = sorted((Path(one).parts, Path(other).parts), key=len)
    return longer[-len(shorter) :] == shorter


def _not_yet_read(
    documents: Iterable[Document], graph: "Store", pipeline: "Pipeline", counts: "_Counts"
) -> Iterator[Document]:
    """Without documents that this model has read before: an extraction goes on where it was."""
    version = pipeline.version
    for document in documents:
        if graph.has_read(document, model=version):
            counts.read_before += 1
        else:
            yield document


# --- outputs -------------------------------------------------------------------------------------


def _check_output(path: Path) -> None:
    """Raise now what would otherwise be raised after a long extraction."""
    from factloom.formats import registry
    from factloom.graph import exports

    check_writable(path)
    try:
        registry.target_format(path)
    except InputError:  # its advice, to name the format, is not for this command
        exports.check_suffix(path, also=(".jsonl", ".json"))


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
    if store is None:
        yield None
        return
    from factloom.graph.store import Store

    with Store.open(store) as graph:
        yield graph


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
