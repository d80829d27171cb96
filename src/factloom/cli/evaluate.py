"""`factloom evaluate`: measure a model, or anybody's predictions, on gold documents."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from factloom.cli.predict import JoinOption, check_writable, predicted_documents
from factloom.document import Document

if TYPE_CHECKING:
    from factloom.evaluation.tasks import Measured


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
    task: Annotated[
        Literal["relations", "mentions"] | None,
        typer.Option(help="What to compare; the model says, and for a file of predictions FILE."),
    ] = None,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Documents given to the model at a time.")
    ] = 32,
    join_words: JoinOption = None,
    bootstrap: Annotated[
        int, typer.Option(min=0, help="Draws for the 95 % intervals; 0 for none.")
    ] = 2000,
) -> None:
    """Compare what a model finds, or a file of predictions, with the gold of FILE."""
    from factloom import formats
    from factloom.evaluation import plots
    from factloom.evaluation.facts import read_facts
    from factloom.evaluation.relations import require_distinct_ids
    from factloom.evaluation.tasks import TASKS, task_of_documents

    if plot is not None:
        plots.check_drawable(plot)
    facts = None if train_facts is None else read_facts(train_facts)
    gold = list(formats.read(file, format))
    require_distinct_ids(gold)
    if Path(model).is_file():
        if output is not None:
            raise typer.BadParameter(f"{model} holds predictions already: leave out --output.")
        chosen = task_of_documents(gold) if task is None else TASKS[task]
        measured = chosen.measure_file(gold, Path(model), facts, bootstrap)
    else:
        found, predicted = _predict(model, gold, batch_size, join_words, output)
        measured = TASKS[task or found].measure(gold, predicted, facts, bootstrap)
    for warning in measured.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if plot is not None:
        measured.draw(plot)
    _print(measured, as_json)


def _predict(
    model: str,
    gold: Sequence[Document],
    batch_size: int,
    join_words: int | None,
    output: Path | None,
) -> tuple[str, list[Document]]:
    """What the model finds, and the documents with it."""
    import factloom
    from factloom import formats

    if output is not None:
        check_writable(output)
    extractor = factloom.load(model)
    predicted = list(predicted_documents(extractor, gold, batch_size, join_words, total=len(gold)))
    if output is not None:
        formats.write(predicted, output)
    return extractor.task, predicted


def _print(measured: "Measured", as_json: bool) -> None:
    if as_json:
        import json

        typer.echo(json.dumps(measured.numbers, ensure_ascii=False))
        return
    from rich.console import Console

    console = Console()
    for table in measured.tables:
        console.print(table)
