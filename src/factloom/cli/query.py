"""`factloom query`: ask a store in SPARQL."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from factloom.cli.graph_output import StoreOption
from factloom.cli.numbers import LARGEST
from factloom.cli.printable import printable

if TYPE_CHECKING:
    from rich.table import Table

    from factloom.graph.database import Answer

_ROWS_AT_A_TIME = 200  # a table is printed when its widths are known, so not all at once


def query(
    sparql: Annotated[str, typer.Argument(help='The query; "-" reads it from standard input.')],
    store: StoreOption,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print SPARQL results as JSON, graphs as JSON-LD.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, max=LARGEST, help="Rows at most.")] = None,
    time_limit: Annotated[
        float, typer.Option(min=0, help="Seconds after which it is given up; 0 is no limit.")
    ] = 60,
    memory_limit: Annotated[
        int, typer.Option(min=0, max=LARGEST, help="Megabytes that it may take; 0 is no limit.")
    ] = 2048,
) -> None:
    """Ask a store in SPARQL; prefixes such as wdt:, rdfs: and fl: are known.

    A terminal gets tables, a pipe gets tab-separated values. docs/graph.md has examples.
    """
    import sys

    from factloom.graph.asking import Formats, Limits
    from factloom.graph.store import Store

    text = _standard_input() if sparql == "-" else sparql
    limits = Limits(time_limit or None, memory_limit << 20 or None)
    formats = Formats("json", "jsonld") if as_json else Formats("tsv", "ttl")
    with (
        Store.read(store) as graph,
        graph.query(text, limit=limit, limits=limits, formats=formats) as answer,
    ):
        if answer.kind == "boolean" and not as_json:
            typer.echo("yes" if answer else "no")
        elif answer.kind == "solutions" and not as_json and sys.stdout.isatty():
            _print_tables(answer)
        else:
            _print_stream(answer, as_json)


def _standard_input() -> str:
    """The query that is read; bytes that are no UTF-8 become what the store refuses."""
    return typer.get_binary_stream("stdin").read().decode("utf-8", "surrogateescape")


def _print_stream(answer: "Answer", as_json: bool) -> None:
    """Write the answer in a standard format, as it comes."""
    stream = typer.get_binary_stream("stdout")
    for piece in answer.pieces():
        stream.write(piece)
        stream.flush()
    if as_json:
        stream.write(b"\n")


def _print_tables(answer: "Answer") -> None:
    from factloom.cli.tables import make_console

    console = make_console()
    names = answer.variables
    for rows in _parts(iter(answer)):
        console.print(_table(names, rows))


def _parts(answer: Iterator[Any]) -> Iterator[list[Any]]:
    rows = list(islice(answer, _ROWS_AT_A_TIME))
    yield rows  # an empty answer has its header at least
    while rows := list(islice(answer, _ROWS_AT_A_TIME)):
        yield rows


def _table(names: Iterable[str], rows: Iterable[Any]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    from factloom.cli.tables import TITLE

    table = Table(*names, box=None, header_style=TITLE, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*(Text(short(value)) for value in row))
    return table


def short(value: Any) -> str:
    """A value for people: text as it is, an IRI with its prefix."""
    from pyoxigraph import NamedNode

    from factloom.graph.vocabulary import PREFIXES

    if value is None:
        return ""
    if not isinstance(value, NamedNode):
        return printable(str(getattr(value, "value", value)))
    for prefix, start in PREFIXES.items():
        if value.value.startswith(start):
            return printable(f"{prefix}:{value.value.removeprefix(start)}")
    return printable(value.value)
