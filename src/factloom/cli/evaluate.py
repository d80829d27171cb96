"""`factloom evaluate`: measure a model, or anybody's predictions, on gold documents."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from factloom.cli.predict import JoinOption, check_writable, in_batches
from factloom.document import Document

if TYPE_CHECKING:
    from factloom.evaluation.tasks import Measured
    from factloom.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class _Asked:
    """A model that is asked about so many documents at a time, with progress shown."""

    pipeline: "Pipeline"
    batch_size: int
    join_words: int | None

    @property
    def task(self) -> str:
        return self.pipeline.task

    def predict(self, documents: Sequence[Document]) -> list[Document]:
        words = self.pipeline.join_words if self.join_words is None else self.join_words
        return self._in_batches(self.pipeline, documents, words)

    def relate(self, documents: Sequence[Document]) -> list[Document]:
        return self._in_batches(self.pipeline.relate, documents, 0)

    def _in_batches(
        self,
        find: Callable[[list[Document]], list[Document]],
        documents: Sequence[Document],
        words: int,
    ) -> list[Document]:
        return list(in_batches(find, documents, self.batch_size, words, total=len(documents)))


def evaluate(
    model: Annotated[
        str, typer.Argument(help="A model directory or name, or a file of predictions.")
    ],
    file: Annotated[Path, typer.Argument(help="The gold documents, plain or gzipped.")],
    format: Annotated[
        str | None, typer.Option(help="The format of FILE, where its content does not tell.")
    ] = None,
    predictions_format: Annotated[
        str | None,
        typer.Option(help="MODEL is a file of predictions in this format; else its content tells."),
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
        Literal["relations", "mentions", "entities", "end-to-end"] | None,
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
    import factloom
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
    if predictions_format is not None or _holds_predictions(Path(model)):
        if output is not None:
            raise typer.BadParameter(f"{model} holds predictions already: leave out --output.")
        chosen = task_of_documents(gold) if task is None else TASKS[task]
        measured = chosen.measure_file(gold, Path(model), facts, bootstrap, predictions_format)
    else:
        if output is not None:
            check_writable(output, [file])
        asked = _Asked(factloom.load(model), batch_size, join_words)
        chosen = TASKS[task or asked.task]
        answers = chosen.ask(asked, gold)
        if output is not None:
            formats.write(answers.documents, output)
        measured = chosen.measure(gold, answers, facts, bootstrap)
    for warning in measured.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if plot is not None:
        measured.draw(plot)
    _print(measured, as_json)


def _holds_predictions(path: Path) -> bool:
    """Whether this is a file, or a folder of brat's, and not a model."""
    from factloom.formats.brat import annotation_files

    if not path.is_dir():
        return path.is_file()
    return not (path / "config.json").is_file() and bool(annotation_files(path))


def _print(measured: "Measured", as_json: bool) -> None:
    if as_json:
        import json

        typer.echo(json.dumps(measured.numbers, ensure_ascii=False))
        return
    from rich.console import Console

    console = Console()
    for table in measured.tables:
        console.print(table)
