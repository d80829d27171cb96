"""`factloom predict`: documents in, the same documents with predicted relations or mentions out."""

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.document import Document
from factloom.errors import InputError, Place

if TYPE_CHECKING:
    from rich.progress import Progress

    from factloom.pipeline import Pipeline


JoinOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Read documents that follow each other in FILE together, up to so many words. "
        "By default as in the model's training; 0: each alone.",
    ),
]


def predict(
    model: Annotated[str, typer.Argument(help="A model directory, or a name on the model hub.")],
    file: Annotated[Path, typer.Argument(help="The documents, plain or gzipped.")],
    output: Annotated[Path, typer.Option(help="Where to write: .jsonl, or .json for DocRED.")],
    format: Annotated[
        str | None, typer.Option(help="The format of FILE, where its content does not tell.")
    ] = None,
    output_format: Annotated[
        str | None, typer.Option(help="Such as docred-submission, where the name does not tell.")
    ] = None,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Documents given to the model, and held, at a time.")
    ] = 32,
    join_words: JoinOption = None,
    minimum_score: Annotated[
        float, typer.Option(min=0, max=1, help="Leave out what has a lower score.")
    ] = 0.0,
    unknown_below: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="Names alone: of words that are less sure nothing is said, they become mentions "
            "of type '?'. A tagger can learn from what is left.",
        ),
    ] = 0.0,
) -> None:
    """Add what the model finds, with scores, to the documents of FILE."""
    import factloom
    from factloom import formats
    from factloom.evaluation.tasks import TASKS

    if minimum_score and unknown_below:
        raise typer.BadParameter(
            "--minimum-score leaves names out, which --unknown-below would mark as unknown: give "
            "one of them."
        )
    check_writable(output)
    documents = formats.read(file, format)
    pipeline = factloom.load(model)
    find = partial(pipeline.sure, least=unknown_below) if unknown_below else pipeline
    predicted = predicted_documents(pipeline, documents, batch_size, join_words, find)
    task = TASKS[pipeline.task]
    kept = (task.confident(document, minimum_score) for document in predicted)
    count = formats.write(kept, output, output_format)
    typer.echo(f"{count:,} documents written to {output}", err=True)


def predicted_documents(
    pipeline: "Pipeline",
    documents: Iterable[Document],
    batch_size: int,
    join_words: int | None = None,
    find: Callable[[list[Document]], list[Document]] | None = None,
) -> Iterator[Document]:
    """The documents with what the model finds, a batch at a time; shows progress on stderr.

    `find` asks the model in another way than by calling the pipeline.
    """
    from factloom.evaluation.tasks import TASKS

    # What is known already is none of the model's business.
    asked = map(TASKS[pipeline.task].unlabelled, documents)
    words = pipeline.join_words if join_words is None else join_words
    return in_batches(find or pipeline, asked, batch_size, words)


def in_batches(
    find: Callable[[list[Document]], list[Document]],
    documents: Iterable[Document],
    batch_size: int,
    join_words: int,
    total: int | None = None,
) -> Iterator[Document]:
    """What `find` makes of the documents, so many at a time; shows progress on stderr."""
    from factloom.text.joining import join_documents

    with _progress() as progress:
        bar = progress.add_task("predicting", total=total)
        groups = join_documents(documents, join_words)
        while batch := list(itertools.islice(groups, batch_size)):
            found = find([group.document for group in batch])
            for group, document in zip(batch, found, strict=True):
                yield from group.split(document)
                progress.advance(bar, len(group.parts))


def check_writable(path: Path, inputs: Iterable[str | Path] = ()) -> None:
    """Raise now what would otherwise be raised after a long prediction, or never.

    An output in the place of one of the `inputs` would be written without a word, and what stood
    there be lost.
    """
    from factloom.formats.output import try_out

    if path.is_dir() or not path.parent.is_dir():
        raise InputError("output-name", Place(file=str(path)))
    # A device, such as a terminal, may well be both.
    if path.is_file() and os.path.realpath(path) in map(os.path.realpath, inputs):
        raise InputError("output-is-input", Place(file=str(path)))
    try_out(path)


def _progress() -> "Progress":
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), "{task.description}", MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
