"""The command line: one file a command, heavy imports inside the commands."""

import sys

import typer

from factloom.cli import adapt, evaluate, label, predict, train
from factloom.cli.data import app as data
from factloom.errors import FactloomError

app = typer.Typer(
    name="factloom",
    help="Documents in, a knowledge graph with evidence out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(train.train)
app.command()(evaluate.evaluate)
app.command()(predict.predict)
app.command()(label.label)
app.command()(adapt.adapt)
app.add_typer(data, name="data")


def main() -> None:
    """Run the command line; an error that a user can mend is one line, not a traceback."""
    try:
        app()
    except FactloomError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
