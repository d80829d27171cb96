"""`factloom compress`: a trained model in 8 bits, or only what training changed of it."""

from pathlib import Path
from typing import Annotated

import typer


def compress(
    model: Annotated[str, typer.Argument(help="A model directory, or a name on the model hub.")],
    output: Annotated[Path, typer.Option(help="The directory to write.")],
    base: Annotated[
        str | None,
        typer.Option(help="The encoder that training began with; the model's recipe says."),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Keep all weights: the encoder is not looked for elsewhere."),
    ] = False,
    graphs: Annotated[
        bool,
        typer.Option("--graphs", help="Add graphs that run without torch, as 'factloom export'."),
    ] = False,
    languages: Annotated[
        str | None, typer.Option(help="What the model reads, such as en or en,zh.")
    ] = None,
) -> None:
    """Keep what training changed of the encoder, in 8 bits, and the model's own layers.

    The encoder itself is not in OUTPUT: it is loaded by its name when the model is. With --whole
    it is, in 8 bits like the rest.
    """
    from factloom.answers.abstaining import read_decision_of, write_decision
    from factloom.models import storage
    from factloom.models.compressed import save_compressed, save_whole

    loaded, decision = storage.load(model), read_decision_of(model)
    recipe = loaded.provenance.get("recipe", {})
    name = base or recipe.get("encoder", {}).get("name")
    if name is None and not whole:
        raise typer.BadParameter("the model does not say its encoder: give it by --base.")
    if languages is not None:
        loaded.provenance["languages"] = languages.split(",")
    if whole:
        save_whole(loaded, output)
    else:
        save_compressed(loaded, output, name)
    if decision is not None:
        write_decision(output, decision)
    if graphs:
        from factloom.light.export import export

        export(output, output)
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    typer.echo(f"{size / 1e6:.1f} MB written to {output}", err=True)
