"""`factloom evaluate`: measure a model, or anybody's predictions, on gold documents."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.cli.predict import check_writable, predicted_documents
from factloom.document import Document

if TYPE_CHECKING:
    from factloom.evaluation.relations import RelationReport
    from factloom.evaluation.report import Summary


def evaluate(
    model: Annotated[
        str, typer.Argument(help="A model directory or name, or a file of predictions.")
    ],
    file: Annotated[Path, typer.Argument(help="The gold documents, plain or gzipped.")],
    format: Annotated[
        str | None, typer.Option(help="The format of FILE, where its content does not tell.")
    ] = None,
    train_facts: Annotated[
        Path | None, typer.Option(help="For Ign F1: the training file, or a list of its facts.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw confusion, thresholds and reliability (.png, ...).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Keep the model's predictions in this file.")
    ] = None,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Documents given to the model at a time.")
    ] = 32,
    bootstrap: Annotated[
        int, typer.Option(min=0, help="Draws for the 95 % intervals; 0 for none.")
    ] = 2000,
) -> None:
    """Compare the relations of a model, or of a file of predictions, with those of FILE."""
    from factloom import formats
    from factloom.evaluation import plots
    from factloom.evaluation.facts import read_facts
    from factloom.evaluation.relations import (
        evaluate_predictions,
        predictions_of,
        require_distinct_ids,
    )
    from factloom.evaluation.report import summarise
    from factloom.evaluation.submission import read_predictions

    if plot is not None:
        plots.check_drawable(plot)
    facts = None if train_facts is None else read_facts(train_facts)
    gold = list(formats.read(file, format))
    require_distinct_ids(gold)
    if Path(model).is_file():
        if output is not None:
            raise typer.BadParameter(f"{model} holds predictions already: leave out --output.")
        predictions = read_predictions(model)
    else:
        predictions = predictions_of(_predict(model, gold, batch_size, output))
    report = evaluate_predictions(gold, predictions, facts)
    _warn(report, gold)
    if plot is not None:
        plots.draw(report, gold, plot)
    _print(summarise(report, bootstrap), as_json)


def _predict(
    model: str, gold: Sequence[Document], batch_size: int, output: Path | None
) -> list[Document]:
    import factloom
    from factloom import formats

    if output is not None:
        check_writable(output)
    extractor = factloom.load(model)
    predicted = list(predicted_documents(extractor, gold, batch_size, total=len(gold)))
    if output is not None:
        formats.write(predicted, output)
    return predicted


def _warn(report: "RelationReport", gold: Sequence[Document]) -> None:
    """Say what would make the scores low for a reason that is not the model's."""
    unlabelled = not any(document.relations for document in gold)
    if unlabelled:
        typer.echo("warning: the gold documents have no relations", err=True)
    if report.unknown_documents:
        unknown = f"documents that the gold does not have: {report.unknown_documents:,}"
        typer.echo(f"warning: predictions name {unknown}", err=True)


def _print(summary: "Summary", as_json: bool) -> None:
    from factloom.evaluation.report import tables, to_json

    if as_json:
        import json

        typer.echo(json.dumps(to_json(summary), ensure_ascii=False))
        return
    from rich.console import Console

    console = Console()
    for table in tables(summary):
        console.print(table)
