"""`factloom average`: between a model and what became of it in another training."""

from pathlib import Path
from typing import Annotated

import typer

from factloom.cli.fitting import FittedOption, FormatOption, read_gold, tell_fitted


def average(
    first: Annotated[str, typer.Argument(help="The model that training began with.")],
    second: Annotated[str, typer.Argument(help="What became of it: a directory, or a name.")],
    files: Annotated[
        list[Path], typer.Argument(help="Annotated documents that neither was trained on.")
    ],
    output: FittedOption,
    part: Annotated[
        float, typer.Option(min=0, max=1, help="Of the second model in the mean.")
    ] = 0.5,
    format: FormatOption = None,
) -> None:
    """Keep what a model knew and most of what it has learned since.

    The weights are the mean of both models'; thresholds and scores are fitted to FILES.
    """
    from factloom.models import storage
    from factloom.training.averaging import average

    gold = read_gold(files, format, output)
    between = average(storage.load(first), storage.load(second), part, name=second)
    if getattr(between, "references", None) is None:  # else it is fitted to pronouns, too
        gold = [document.named() for document in gold]
    fitted = between.fit_scores(gold)
    between.save_pretrained(output)
    tell_fitted(fitted, output)
