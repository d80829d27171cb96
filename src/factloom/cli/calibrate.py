"""`factloom calibrate`: scores that mean what they say in a user's own texts."""

from pathlib import Path
from typing import Annotated

import typer


def calibrate(
    model: Annotated[str, typer.Argument(help="A joint model: a directory, or a name.")],
    files: Annotated[
        list[Path], typer.Argument(help="Documents with their true entities and relations.")
    ],
    output: Annotated[Path, typer.Option(help="The directory to write the model to.")],
    format: Annotated[
        str | None, typer.Option(help="The format of the files, where their content does not tell.")
    ] = None,
) -> None:
    """Fit the scores of relations found in raw text to documents that were not trained on.

    Which relations are found stays as it is, and so does the order of their scores.
    """
    from factloom import formats
    from factloom.errors import InputError, ModelError, Place
    from factloom.files.output import check_output
    from factloom.models import storage

    check_output(output, files)
    gold = [document.named() for file in files for document in formats.read(file, format)]
    if not any(document.relations for document in gold):
        raise InputError("no-true-relations", Place(file=str(files[0])))
    loaded = storage.load(model)
    if not hasattr(loaded, "fit_raw_scores"):
        raise ModelError("reads-no-text", Place(file=model), task=loaded.task)
    found = loaded.fit_raw_scores(gold)
    if not found["decisions"]:
        raise InputError("nothing-right", Place(file=str(files[0])))
    loaded.save_pretrained(output)
    told = ", ".join(f"{name} {value:.3g}" for name, value in found.items())
    typer.echo(f"{told}; written to {output}", err=True)
