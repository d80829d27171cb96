"""The command line: one file a command, heavy imports inside the commands."""

import sys
from typing import Annotated

import typer

from factloom.cli import (
    adapt,
    ask,
    average,
    calibrate,
    complete,
    compress,
    evaluate,
    export,
    extract,
    fill,
    find_threshold,
    knowledge,
    label,
    link,
    predict,
    pretrain,
    query,
    relations,
    serve,
    train,
)
from factloom.cli.data import app as data
from factloom.cli.graph import app as graph
from factloom.cli.index import app as index
from factloom.cli.standard_streams import open_closed_streams, whole_output
from factloom.errors import FactloomError, ModelError
from factloom.version import VERSION

_OF_TRAINING = ("torch", "transformers", "accelerate")  # what a light install lacks

app = typer.Typer(
    name="factloom",
    help="Documents in, a knowledge graph with evidence out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 100},
    rich_markup_mode=None,  # help at once: rich takes longer to import than all the rest
)
app.command()(extract.extract)
app.command()(relations.relations)
app.command()(train.train)
app.command()(pretrain.pretrain)
app.command()(fill.fill)
app.command()(evaluate.evaluate)
app.command()(predict.predict)
app.command()(find_threshold.find_threshold)
app.command()(calibrate.calibrate)
app.command()(average.average)
app.command()(label.label)
app.command()(adapt.adapt)
app.command()(compress.compress)
app.command()(export.export)
app.command()(query.query)
app.command()(ask.ask)
app.command()(link.link)
app.command()(knowledge.knowledge)
app.command()(serve.serve)
app.command()(complete.complete)
app.add_typer(graph, name="graph")
app.add_typer(index, name="index")
app.add_typer(data, name="data")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"factloom {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show which factloom this is.", is_eager=True, callback=_show_version
        ),
    ] = False,
) -> None:
    """What can be said without a command; the callbacks have done it."""


def main() -> None:
    """Run the command line; an error that a user can mend is one line, not a traceback."""
    open_closed_streams()
    try:
        with whole_output():
            app()
    except FactloomError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except ModuleNotFoundError as error:
        if error.name not in _OF_TRAINING:
            raise
        print(f"error: {ModelError('torch-missing', package=error.name)}", file=sys.stderr)
        sys.exit(1)
