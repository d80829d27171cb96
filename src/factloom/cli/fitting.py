"""What commands that fit a model to annotated documents share."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from factloom.document import Document

FittedOption = Annotated[Path, typer.Option(help="The directory to write the model to.")]
FormatOption = Annotated[
    str | None, typer.Option(help="The format of the files, where their content does not tell.")
]


def read_gold(files: Sequence[Path], format: str | None, output: Path) -> "list[Document]":
    """The documents of some files, once it is sure that `output` can be written."""
    from factloom import formats
    from factloom.files.output import check_output

    check_output(output, files)
    return [document for file in files for document in formats.read(file, format)]


def tell_fitted(numbers: Mapping[str, float], output: Path) -> None:
    told = ", ".join(f"{name} {value:.3g}" for name, value in numbers.items())
    typer.echo(f"{told}; written to {output}", err=True)
