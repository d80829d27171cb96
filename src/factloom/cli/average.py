"""`factloom average`: between a model and what became of it in another training."""

from pathlib import Path
from typing import Annotated

import typer


def average(
    first: Annotated[str, typer.Argument(help="The model that training began with.")],
    second: Annotated[str, typer.Argument(help="What became of it: a directory, or a name.")],
    files: Annotated[
        list[Path], typer.Argument(help="Annotated documents that neither was trained on.")
    ],
    output: Annotated[Path, typer.Option(help="The directory to write the model to.")],
    part: Annotated[
        float, typer.Option(min=0, max=1, help="Of the second model in the mean.")
    ] = 0.5,
    format: Annotated[
        str | None, typer.Option(help="The format of the files, where their content does not tell.")
    ] = None,
) -> None:
    """Keep what a model knew and most of what it has learned since.

    The weights are the mean of both models'; thresholds and scores are fitted to FILES.
    """
    from factloom import formats
    from factloom.files.output import check_output
    from factloom.models import storage
    from factloom.training.averaging import average

    check_output(output, files)
    between = average(storage.load(first), storage.load(second), part, name=second)
    gold = [document for file in files for document in formats.read(file, format)]
    if getattr(between, "references", None) is None:  # else it is fitted to pronouns, too
        gold = [document.named() for document in gold]
    fitted = between.fit_scores(gold)
    between.save_pretrained(output)
    numbers = ", ".join(f"{name} {value:.3g}" for name, value in fitted.items())
    typer.echo(f"{numbers}; written to {output}", err=True)
