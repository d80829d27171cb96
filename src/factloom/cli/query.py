"""`factloom query`: ask a store in SPARQL."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

_ROWS_AT_A_TIME = 200  # a table is printed when its widths are known, so not all at once


def query(
    sparql: Annotated[str, typer.Argument(help='The query; "-" reads it from standard input.')],
    store: Annotated[Path, typer.Option("--store", help="The directory of the store.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print SPARQL results as JSON, graphs as JSON-LD.")
    ] = False,
) -> None:
    """Ask a store in SPARQL; prefixes such as wdt:, rdfs: and fl: are known.

    A terminal gets tables, a pipe gets tab-separated values. docs/graph.md has examples.
    """
    import sys

    from pyoxigraph import QueryBoolean, QuerySolutions

    from factloom.errors import InputError, Place
    from factloom.graph.sparql import QUERY_FAILURES
    from factloom.graph.store import Store

    text = _standard_input() if sparql == "-" else sparql
    with Store.open(store, must_exist=True) as graph:
        answer = graph.query(text)
        try:
            if isinstance(answer, QueryBoolean) and not as_json:
                typer.echo("yes" if answer else "no")
            elif isinstance(answer, QuerySolutions) and not as_json and sys.stdout.isatty():
                _print_tables(answer)
            else:
                _print_stream(answer, as_json)
        except BrokenPipeError:  # the reader has seen enough
            raise
        except QUERY_FAILURES as error:
            place = Place(file=str(store))
            raise InputError("query-failed", place, detail=error) from None


def _standard_input() -> str:
    """The query that is read; bytes that are no UTF-8 become what the store refuses."""
    return typer.get_binary_stream("stdin").read().decode("utf-8", "surrogateescape")


def _print_stream(answer: Any, as_json: bool) -> None:
    """Write the answer in a standard format, as it comes."""
    from pyoxigraph import QueryResultsFormat, QueryTriples, RdfFormat, serialize

    from factloom.graph.vocabulary import PREFIXES

    stream = typer.get_binary_stream("stdout")
    if isinstance(answer, QueryTriples):
        format = RdfFormat.JSON_LD if as_json else RdfFormat.TURTLE
        serialize(answer, stream, format, prefixes=PREFIXES)
    else:
        answer.serialize(stream, QueryResultsFormat.JSON if as_json else QueryResultsFormat.TSV)
    if as_json:
        stream.write(b"\n")


def _print_tables(answer: Any) -> None:
    from factloom.cli.tables import make_console

    console = make_console()
    names = [variable.value for variable in answer.variables]
    for rows in _parts(answer):
        console.print(_table(names, rows))


def _parts(answer: Any) -> Iterator[list[Any]]:
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
        text = str(getattr(value, "value", value))
        return "".join(letter if letter.isprintable() else " " for letter in text)
    for prefix, start in PREFIXES.items():
        if value.value.startswith(start):
            return f"{prefix}:{value.value.removeprefix(start)}"
    return str(value.value)
