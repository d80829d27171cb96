"""`factloom predict`: documents in, the same documents with predicted relations or mentions out."""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.cli.numbers import LARGEST
from factloom.document import Document
from factloom.errors import Place
from factloom.files.output import check_output

if TYPE_CHECKING:
    from rich.progress import Progress

    from factloom.pipeline import Pipeline


Find = Callable[[list[Document]], list[Document]]

JoinOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=LARGEST,
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
        int,
        typer.Option(min=1, max=LARGEST, help="Documents given to the model, and held, at a time."),
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
    check_output(output, [file])
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
    find: Find | None = None,
) -> Iterator[Document]:
    """The documents with what the model finds, a batch at a time; shows progress on stderr.

    `find` asks the model in another way than by calling the pipeline.
    """
    from factloom.evaluation.tasks import TASKS

    # What is known already is none of the model's business.
    asked = map(TASKS[pipeline.task].unlabelled, documents)
    words = pipeline.join_words if join_words is None else join_words
    return in_batches(find or pipeline, asked, batch_size, words, needs=needs_of(pipeline))


def needs_of(pipeline: "Pipeline") -> tuple[str, ...]:
    """What documents must have for it; some of a file may have none, as people have found."""
    from factloom.components import ROLES

    return ROLES[pipeline.task].needs


def in_batches(
    find: Find,
    documents: Iterable[Document],
    batch_size: int,
    join_words: int,
    total: int | None = None,
    needs: Collection[str] = (),
) -> Iterator[Document]:
    """What `find` makes of the documents, so many at a time; shows progress on stderr.

    Documents that lack what it needs pass as they are; where all do, that is an error.
    """
    from factloom.text.joining import join_documents

    with _progress() as progress:
        bar = progress.add_task("predicting", total=total)
        groups = join_documents(_not_all_lacking(documents, needs), join_words)
        while batch := list(itertools.islice(groups, batch_size)):
            found = _found_where_complete(find, [group.document for group in batch], needs)
            for group, document in zip(batch, found, strict=True):
                yield from group.split(document)
                progress.advance(bar, len(group.parts))


def _found_where_complete(
    find: Find, documents: list[Document], needs: Collection[str]
) -> list[Document]:
    from factloom.components import lacking

    complete = [document for document in documents if lacking(document, needs) is None]
    found = iter(find(complete) if complete else ())
    return [next(found) if lacking(one, needs) is None else one for one in documents]


def _not_all_lacking(documents: Iterable[Document], needs: Collection[str]) -> Iterator[Document]:
    from factloom.components import lack, lacking

    missing: set[str | None] = set()
    for document in documents:
        missing.add(lacking(document, needs))
        yield document
    for part in missing if None not in missing else ():
        raise lack(str(part), Place(file=document.source, document=document.id))


def _progress() -> "Progress":
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), "{task.description}", MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
