"""`factloom predict`: documents in, the same documents with predicted relations out."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.document import Document
from factloom.errors import InputError, Place

if TYPE_CHECKING:
    from rich.progress import Progress

Extractor = Callable[[Iterable[Document]], list[Document]]


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
    minimum_score: Annotated[
        float, typer.Option(min=0, max=1, help="Leave out relations with a lower score.")
    ] = 0.0,
) -> None:
    """Add relations, with scores and evidence, to the documents of FILE."""
    import factloom
    from factloom import formats

    check_writable(output)
    documents = formats.read(file, format)
    extractor = factloom.load(model)
    predicted = predicted_documents(extractor, documents, batch_size)
    kept = (confident(document, minimum_score) for document in predicted)
    count = formats.write(kept, output, output_format)
    typer.echo(f"{count:,} documents written to {output}", err=True)


def predicted_documents(
    extractor: Extractor,
    documents: Iterable[Document],
    batch_size: int,
    total: int | None = None,
) -> Iterator[Document]:
    """The documents with the model's relations, a batch at a time; shows progress on stderr."""
    with _progress() as progress:
        task = progress.add_task("predicting", total=total)
        # Relations that are known already are none of the model's business.
        asked = (document.replace(relations=()) for document in documents)
        while batch := list(itertools.islice(asked, batch_size)):
            yield from extractor(batch)
            progress.advance(task, len(batch))


def confident(document: Document, minimum_score: float) -> Document:
    """The document without the relations whose score is lower."""
    kept = tuple(
        relation
        for relation in document.relations
        if relation.score is None or relation.score >= minimum_score
    )
    return document.replace(relations=kept)


def check_writable(path: Path) -> None:
    """Raise now what would otherwise be raised after a long prediction."""
    if path.is_dir() or not path.parent.is_dir():
        raise InputError("output-name", Place(file=str(path)))


def _progress() -> "Progress":
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), "{task.description}", MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
