"""A progress bar on stderr for the reading of many files."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from factloom.document import Document


@contextmanager
def reading_progress(inputs: Sequence[str], *, shown: bool) -> Iterator[Callable[[Document], None]]:
    """A function to call with every document that is done; files are counted by their source."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("extracting"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files, {task.fields[documents]:,} documents, {task.fields[rate]:.1f} a second"),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    hidden = not (shown and console.is_terminal)
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        total = 0 if hidden else count_files(inputs)
        bar = progress.add_task("", total=total, documents=0, rate=0.0)
        documents = 0
        sources: set[str] = set()

        def advance(document: Document) -> None:
            nonlocal documents
            documents += 1
            sources.add(str(document.attributes.get("source")))
            elapsed = progress.tasks[bar].elapsed or 0.0
            rate = documents / elapsed if elapsed else 0.0
            progress.update(bar, completed=len(sources), documents=documents, rate=rate)

        yield advance


def count_files(inputs: Sequence[str]) -> int:
    """How many files there are to be read, hidden ones and graph stores left out."""
    return sum(_count(path) for path in inputs)


def _count(path: str) -> int:
    if not Path(path).is_dir():
        return 1
    from factloom.formats.gathering import is_store

    count = 0
    for parent, folders, files in os.walk(path):
        if is_store(Path(parent)):
            continue
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        count += sum(not file.startswith(".") for file in files)
    return count
