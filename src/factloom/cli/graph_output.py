"""What the commands of `factloom graph` have in common: options, and how they print."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.cli.numbers import LARGEST
from factloom.cli.printable import printable

if TYPE_CHECKING:
    from rich.text import Text

    from factloom.graph.facts import Connection

StoreOption = Annotated[
    str,
    typer.Option("--store", help="The directory of the store, or a SPARQL endpoint."),
]
StoreDirectoryOption = Annotated[Path, typer.Option("--store", help="The directory of the store.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")]
LimitOption = Annotated[
    int | None, typer.Option(min=1, max=LARGEST, help="How many are shown at most.")
]
TypeOption = Annotated[
    str | None, typer.Option("--type", help="The type, where several things have this name.")
]
WhyOption = Annotated[str, typer.Option("--why", help="The reason, for those who come later.")]
ByOption = Annotated[
    str | None, typer.Option("--by", help="Who says so; the user of this computer if not given.")
]


def who(given: str | None) -> str:
    """Who speaks: the name that is given, else that of the user."""
    import getpass

    if given is not None:
        return given
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return "unknown"


def tell_left_out(count: int, limit: int | None) -> None:
    """Say how many are not shown."""
    if limit is not None and count > limit:
        typer.echo(f"{count - limit:,} more are not shown", err=True)


def print_connections(
    found: Sequence["Connection"], names: Mapping[str, str], as_json: bool, *, first: int | None = 1
) -> None:
    """Facts with their evidence; numbered, so that they can be named, unless `first` is None."""
    from dataclasses import asdict

    from factloom.cli.tables import make_console

    console = make_console()
    width = len(str((first or 0) + len(found) - 1))
    for number, connection in enumerate(found, first or 0):
        if as_json:
            words = names.get(connection.relation, connection.relation)
            told = {"name": words, "score": connection.score, "decision": connection.decision}
            print_json({**asdict(connection), **told})
            continue
        console.print(fact_line(connection, names, "" if first is None else f"{number:{width}}  "))
        for line in evidence_lines(connection):
            console.print(line)


def fact_line(fact: "Connection", names: Mapping[str, str], start: str = "") -> "Text":
    """Head, relation, tail, score and what people have decided, in colours."""
    from rich.text import Text

    from factloom.cli.tables import HEAD, QUIET, RELATION, TAIL

    line = Text(start, QUIET)
    parts = (
        (fact.head.name, HEAD),
        (named(fact.relation, names), RELATION),
        (fact.tail.name, TAIL),
    )
    line.append_text(Text(" ").join(Text(printable(text), style) for text, style in parts))
    if fact.score is not None:
        line.append(f"  {fact.score:.2f}")
    if fact.decision is not None:
        line.append(f"  {fact.decision}", "bold")
    return line


def evidence_lines(fact: "Connection") -> Iterator["Text"]:
    """The documents that state a fact, and their sentences, with its two ends lit."""
    from rich.text import Text

    from factloom.cli.tables import HEAD, QUIET, TAIL

    for evidence in fact.evidence:
        place = printable(f"{evidence.document}#{evidence.fact.rpartition('#')[2]}")
        line = Text(f"    [{place}] {printable(' '.join(evidence.sentences))}", QUIET)
        line.highlight_words([printable(fact.head.name)], HEAD, case_sensitive=False)
        line.highlight_words([printable(fact.tail.name)], TAIL, case_sensitive=False)
        yield line


def print_others(said: str, others: Iterable[str], none: str) -> None:
    """What is said of entities, by their documents; `none` where there are no others."""
    from factloom.graph.identifiers import document_of_entity

    documents = sorted({document_of_entity(other) for other in others})
    typer.echo(f"{said}: {printable(', '.join(documents))}" if documents else none)


def print_table(columns: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    """Rows below the names of their columns."""
    from rich.table import Table
    from rich.text import Text

    from factloom.cli.tables import TITLE, make_console

    table = Table(*columns, box=None, header_style=TITLE, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    make_console().print(table)


def print_json(value: object) -> None:
    """One line of JSON that steers no terminal."""
    line = json.dumps(value, ensure_ascii=False)
    # JSON escapes the older half of the control characters only.
    typer.echo("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line))


def named(relation: str, names: Mapping[str, str]) -> str:
    """A relation in words, with its id."""
    name = names.get(relation, relation)
    return relation if name == relation else f"{name} ({relation})"


def cell(value: object) -> str:
    """A value in a table."""
    return f"{value:.2f}" if isinstance(value, float) else str(value)
