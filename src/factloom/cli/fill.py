"""factloom fill TEXT"""

from typing import Annotated

import typer


def fill(
    text: Annotated[str, typer.Argument(help='A text with blanks: "The capital of [MASK] is ..."')],
    model: Annotated[str, typer.Option(help="A pretrained encoder: its folder or hub name.")],
    most: Annotated[int, typer.Option(min=1, help="How many tokens to show for a blank.")] = 5,
) -> None:
    """Say what may stand in the blanks of a text, and how sure the model is."""
    from factloom.objectives.filling import fill as find
    from factloom.objectives.network import Network

    network = Network.load(model, overlap=0)
    network.require_head(model)
    for number, blank in enumerate(find(network, text, most), start=1):
        for filling in blank:
            typer.echo(f"{number}\t{filling.probability:.3f}\t{filling.token}")
