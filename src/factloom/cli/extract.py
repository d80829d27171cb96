"""`factloom extract`: files in, entities and relations with evidence out."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from factloom.cli.numbers import LARGEST
from factloom.cli.progress import reading_progress
from factloom.document import Document
from factloom.errors import InputError, ModelError, Place

if TYPE_CHECKING:
    from factloom.extraction import Report
    from factloom.pipeline import Pipeline
    from factloom.schema import SchemaSettings


def extract(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="FILE|DIR|-", help="Texts to read; - is standard input."),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A model directory or hub name; by default those that ship, by language. "
            "May be repeated: each finds what the next one needs."
        ),
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            help="Where to write, by suffix: .jsonl .json .ttl .nq .jsonld .graphml .csv .html. "
            "May be repeated; tables are printed without it."
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Add the facts to the graph store in this directory, or at an address."),
    ] = None,
    link: Annotated[
        bool,
        typer.Option("--link", help="Link names to what the store, or --knowledge, already knows."),
    ] = False,
    knowledge: Annotated[
        Path | None,
        typer.Option(help="A knowledge base to link names to, for its identifiers; see link."),
    ] = None,
    language: Annotated[
        Literal["en", "zh"] | None, typer.Option(help="Insist on a model for this language.")
    ] = None,
    labels: Annotated[
        Literal["en", "zh"] | None,
        typer.Option(help="Name Wikidata's relations in this language, in tables and files."),
    ] = None,
    any_language: Annotated[
        bool,
        typer.Option(
            "--any-language", help="Read texts in languages that the model has not learned."
        ),
    ] = False,
    runtime: Annotated[
        Literal["light", "light-8bit", "light-fastest", "torch"] | None,
        typer.Option(
            help="What runs the model: torch where it is installed, else light; in 8 bits, or in "
            "what a measurement finds faster."
        ),
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
        int,
        typer.Option(min=1, max=LARGEST, help="Documents given to the model, and held, at a time."),
    ] = 32,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Processes that read: 1, or one a processor with Ray."),
    ] = None,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option(help="Who reads: this machine, or a cluster, into the directory --output."),
    ] = "local",
    address: Annotated[
        str | None, typer.Option(help="The Ray cluster; without it, Ray uses this machine.")
    ] = None,
) -> None:
    """Find entities, relations and evidence in texts."""
    from factloom import extraction
    from factloom.pipeline import Pipeline
    from factloom.stored_models import shipped_for
    from factloom.text.relation_labels import relation_labels

    settings = _settings(relations, thresholds, minimum_score)
    words = relation_labels(labels) if labels else {}
    targets = extraction.Targets(output or [], store, words)
    models = model or [shipped_for(language)]
    pipeline = Pipeline.load_later(*models, runtime=runtime, any_language=any_language, **settings)
    _check_language(pipeline, language)
    if engine == "ray":
        if len(targets.files) != 1 or store or link or knowledge or labels:
            raise InputError("ray-outputs")
        report = extraction.extract_on_ray(
            pipeline,
            inputs,
            targets.files[0],
            format=format,
            batch_size=batch_size,
            workers=workers,
            address=address,
        )
        _tell(report, {targets.files[0]: report.documents or report.read_before})
        return
    if address:
        raise InputError("only-ray", option="--address")
    with reading_progress(inputs, shown=bool(output or store)) as done:
        report = extraction.extract(
            pipeline,
            inputs,
            targets,
            format=format,
            batch_size=batch_size,
            workers=workers or 1,
            linking=extraction.Linking(knowledge, link and (store is not None or not knowledge)),
            show=partial(_show, {**pipeline.relation_names, **words}),
            done=done,
        )
    came: dict[Path | str, int] = dict.fromkeys(targets.files, report.documents)
    if store:
        came[store] = report.documents or report.read_before
    _tell(report, came)


def _tell(report: "Report", came: Mapping[Path | str, int]) -> None:
    """What was written, and what could not be read."""
    for path, documents in came.items():
        typer.echo(f"{path}: {report if documents else 'nothing written'}", err=True)
    for problem in report.problems:
        typer.echo(f"problem: {problem.error}", err=True)
    if report.exit_code:
        raise typer.Exit(report.exit_code)


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


def _show(names: Mapping[str, str], documents: Iterable[Document]) -> None:
    from factloom.cli import tables

    tables.show(documents, names, tables.make_console())
