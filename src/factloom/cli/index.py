"""`factloom index`: make the index of a store's passages, bring it up to date, look at it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.cli.numbers import LARGEST
from factloom.cli.printable import printable

if TYPE_CHECKING:
    from factloom.answers.index import UpdateReport

app = typer.Typer(help="The passages of a store, to be found.", no_args_is_help=True)

StoreOption = Annotated[Path, typer.Option("--store", help="The directory of the store.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def build(
    store: StoreOption,
    encoder: Annotated[
        str | None,
        typer.Option(help="The encoder of passages and questions; all-MiniLM-L6-v2 by default."),
    ] = None,
    most_words: Annotated[
        int | None, typer.Option(min=1, max=LARGEST, help="Words of a passage at most.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make the index of a store's passages, or make it anew."""
    from factloom.answers.index import build_index
    from factloom.answers.passages import MOST_WORDS
    from factloom.answers.text_vectors import TextVectors

    texts = TextVectors() if encoder is None else TextVectors(encoder)
    with _progress() as done:
        report = build_index(store, texts=texts, most_words=most_words or MOST_WORDS, done=done)
    _tell(store, report, as_json)


@app.command()
def update(store: StoreOption, as_json: JsonOption = False) -> None:
    """Bring the index up to date with the documents of the store."""
    from factloom.answers.index import update_index

    with _progress() as done:
        report = update_index(store, done=done)
    _tell(store, report, as_json)


@app.command()
def stats(store: StoreOption, as_json: JsonOption = False) -> None:
    """Count documents and passages, after bringing the index up to date."""
    from dataclasses import asdict

    from factloom.answers.index import open_index

    with open_index(store) as index:
        counted = asdict(index.statistics())
    if as_json:
        typer.echo(json.dumps(counted, ensure_ascii=False))
        return
    for name, value in counted.items():
        shown = f"{value:,}" if isinstance(value, int) else printable(value)
        typer.echo(f"{name.replace('_', ' '):18}{shown:>18}")


def _tell(store: Path, report: "UpdateReport", as_json: bool) -> None:
    from dataclasses import asdict

    counts = asdict(report)
    if as_json:
        typer.echo(json.dumps(counts))
        return
    words = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    typer.echo(f"{printable(str(store))}: {words}")


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    """A function to call with the number of documents that are done, shown on a terminal."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:,.0f} documents"),
        TimeElapsedColumn(),
    )
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=None)
        yield lambda count: progress.advance(task, count)
