"""`factloom evaluate`: measure a model, or anybody's predictions, on gold documents."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.cli.numbers import LARGEST
from factloom.cli.predict import Find, JoinOption, in_batches, needs_of
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
        return self._in_batches(self.pipeline, documents, words, needs_of(self.pipeline))

    def relate(self, documents: Sequence[Document]) -> list[Document]:
        return self._in_batches(self.pipeline.relate, documents, 0, ("entities",))

    def _in_batches(
        self, find: Find, documents: Sequence[Document], words: int, needs: Collection[str]
    ) -> list[Document]:
        total = len(documents)
        return list(in_batches(find, documents, self.batch_size, words, total, needs))


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
        str | None,
        typer.Option(
            help="What to compare: relations, mentions, entities, end-to-end, facts, answers, "
            "linking or retrieval. The model says, and for a file of predictions FILE."
        ),
    ] = None,
    batch_size: Annotated[
        int, typer.Option(min=1, max=LARGEST, help="Documents given to the model at a time.")
    ] = 32,
    join_words: JoinOption = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            help="The file or store whose passages the questions are answered from: by a reader, "
            "or by realm, rag, ... in place of those of their training. May be repeated."
        ),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option(min=0, max=LARGEST, help="Draws for the 95 % intervals; 0 for none.")
    ] = 2000,
) -> None:
    """Compare what a model finds, or a file of predictions, with the gold of FILE."""
    import factloom
    from factloom import formats
    from factloom.evaluation.facts import read_facts
    from factloom.evaluation.relations import require_distinct_ids
    from factloom.evaluation.tasks import TASKS, task_of_documents
    from factloom.files.output import check_output
    from factloom.formats import registry
    from factloom.formats.plots import check_drawable

    if task is not None and task not in TASKS:
        raise typer.BadParameter(f"--task takes one of {', '.join(TASKS)}, not {task!r}.")
    has_predictions = predictions_format is not None or _holds_predictions(Path(model))
    read = [*registry.files_read(file), *([train_facts] if train_facts else [])]
    read += registry.files_read(model) if has_predictions else []
    if plot is not None:
        check_drawable(plot)
        check_output(plot, read, others=[output] if output else [])
    facts = None if train_facts is None else read_facts(train_facts)
    gold = list(formats.read(file, format))
    require_distinct_ids(gold)
    if has_predictions:
        if corpus:
            raise typer.BadParameter(f"{model} holds predictions already: leave out --corpus.")
        if output is not None:
            raise typer.BadParameter(f"{model} holds predictions already: leave out --output.")
        chosen = task_of_documents(gold) if task is None else TASKS[task]
        measured = chosen.measure_file(gold, Path(model), facts, bootstrap, predictions_format)
    else:
        if output is not None:
            for path in registry.files_written(output):
                check_output(path, read)
        pipeline = factloom.load(model)
        if corpus:
            pipeline = with_corpus(pipeline, corpus, model)
        asked = _Asked(pipeline, batch_size, join_words)
        chosen = TASKS[task or asked.task]
        answers = chosen.ask(asked, gold)
        if output is not None:
            formats.write(answers.documents, output)
        measured = chosen.measure(gold, answers, facts, bootstrap)
    for warning in measured.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if plot is not None and measured.picture is not None:
        measured.picture.draw(plot)
    elif plot is not None:
        typer.echo(f"warning: there is no picture of the task {chosen.name}", err=True)
    _print(measured, as_json)


def with_corpus(pipeline: "Pipeline", paths: Sequence[str], name: str) -> "Pipeline":
    """The pipeline, whose model answers from this corpus."""
    from factloom.answers.abstaining import read_decision_of
    from factloom.answers.index import index_in_memory
    from factloom.answers.open_corpus import OpenCorpus, read_documents
    from factloom.answers.retrieve_and_read import RetrieveAndRead
    from factloom.errors import ModelError, Place
    from factloom.pipeline import Pipeline

    documents = (document for path in paths for document in read_documents(path))
    model = pipeline.model
    found = getattr(model, "corpus", None)
    if isinstance(found, OpenCorpus):
        found.take(documents)
        return pipeline
    if pipeline.task != "answers":
        raise ModelError("model-without-corpus", Place(file=name))
    index = index_in_memory(list(documents))
    return Pipeline(RetrieveAndRead(model, index, read_decision_of(name)))


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
