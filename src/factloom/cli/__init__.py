"""The command line: one file a command, heavy imports inside the commands."""

import sys

import typer

from factloom.cli import (
    adapt,
    compress,
    evaluate,
    extract,
    find_threshold,
    label,
    predict,
    query,
    train,
)
from factloom.cli.data import app as data
from factloom.cli.graph import app as graph
from factloom.errors import FactloomError

app = typer.Typer(
    name="factloom",
    help="Documents in, a knowledge graph with evidence out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 100},
    rich_markup_mode=None,  # help at once: rich takes longer to import than all the rest
)
app.command()(extract.extract)
app.command()(train.train)
app.command()(evaluate.evaluate)
app.command()(predict.predict)
app.command()(find_threshold.find_threshold)
app.command()(label.label)
app.command()(adapt.adapt)
app.command()(compress.compress)
app.command()(query.query)
app.add_typer(graph, name="graph")
app.add_typer(data, name="data")


def main() -> None:
    """Run the command line; an error that a user can mend is one line, not a traceback."""
    try:
        app()
    except FactloomError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
