"""factloom fill TEXT"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from factloom.objectives.filling import Filling


def fill(
    text: Annotated[str, typer.Argument(help='A text with blanks: "The capital of [MASK] is ..."')],
    model: Annotated[str, typer.Option(help="A pretrained encoder: its folder or hub name.")],
    most: Annotated[int, typer.Option(min=1, help="How many to show for a blank.")] = 5,
) -> None:
    """Say what may stand in the blanks of a text, and how sure the model is."""
    for number, blank in enumerate(_found(text, model, most), start=1):
        for filling in blank:
            typer.echo(f"{number}\t{filling.probability:.3f}\t{filling.token}")


def _found(text: str, model: str, most: int) -> "list[list[Filling]]":
    """Blanks of any length where the model has learned to write spans, else single tokens."""
    from factloom.objectives.blanks import fill_blanks, writes_blanks
    from factloom.objectives.filling import fill as find
    from factloom.objectives.network import Network
    from factloom.objectives.pretraining import load_pretraining

    if writes_blanks(Path(model)):
        return fill_blanks(load_pretraining(model), text, most)
    network = Network.load(model, overlap=0)
    network.require_head(model)
    return find(network, text, most)
