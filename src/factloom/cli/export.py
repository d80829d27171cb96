"""`factloom export`: a trained model with graphs that run without torch."""

from pathlib import Path
from typing import Annotated

import typer


def export(
    model: Annotated[str, typer.Argument(help="A model directory or hub name.")],
    output: Annotated[
        Path, typer.Option(help="Where to write it; the model's own directory adds the graphs.")
    ],
) -> None:
    """Write a model with its layers as graphs, which onnxruntime runs without torch."""
    from factloom.light.export import export as write
    from factloom.light.folder import GRAPHS

    write(model, output)
    size = sum(file.stat().st_size for file in (output / GRAPHS).iterdir())
    typer.echo(f"{output / GRAPHS}: {size / 1e6:.2f} MB of graphs, which say what the model says")
