"""factloom pretrain RECIPE.toml"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factloom.cli.train import OutputOption, ResumeOption, SetOption, output_of

if TYPE_CHECKING:
    from factloom.formats.gathering import Problem


def pretrain(
    recipe: Annotated[Path, typer.Argument(help="A TOML recipe with an [objective].")],
    set_: SetOption = None,
    output: OutputOption = None,
    resume: ResumeOption = False,
) -> None:
    """Let an encoder read plain text; any recipe can then begin with what comes out."""
    from factloom.training.recipe import read_settings
    from factloom.training.text_recipe import PretrainRecipe

    settings = read_settings(PretrainRecipe, recipe, set_ or ())

    from factloom.training.pretraining import pretrain as run

    target = output_of(recipe, output)
    name = str(recipe)
    results = run(settings, target, resume=resume, recipe_name=name, skipped=_tell)
    if not results:  # another process reports
        return
    scores = "  ".join(f"{name} {score:.3f}" for name, score in results["development"].items())
    typer.echo(f"held out: {scores}")
    typer.echo(f"encoder: {target / 'best'}")


def _tell(problem: "Problem") -> None:
    typer.echo(f"left out: {problem.error}", err=True)
