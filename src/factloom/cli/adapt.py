"""factloom adapt RECIPE.toml"""

from pathlib import Path
from typing import Annotated

import typer

from factloom.cli.train import OutputOption, SetOption, output_of, score_lines


def adapt(
    recipe: Annotated[Path, typer.Argument(help="A TOML recipe with a [dictionary].")],
    set_: SetOption = None,
    output: OutputOption = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where it was stopped, with entries as edited.")
    ] = False,
    pause: Annotated[
        bool, typer.Option("--pause", help="Stop behind every round, so that you can edit.")
    ] = False,
) -> None:
    """Train on what a dictionary marks, let it grow by what is predicted surely, and repeat."""
    from factloom.training.recipe import read_recipe

    settings = read_recipe(recipe, set_ or ())

    from rich.console import Console

    from factloom.training.adaptive_dictionary import AdaptiveDictionary

    target = output_of(recipe, output)
    loop = AdaptiveDictionary(settings, target, resume=resume, pause=pause, recipe_name=str(recipe))
    results = loop.run()
    console = Console()
    for done in results["rounds"]:
        names = f"round {done['round']}: {done['names']:,} names, {done['new']:,} new ones found"
        for line in (names, *(f"  {scores}" for scores in score_lines(done))):
            console.print(line, highlight=False, soft_wrap=True)
    if "paused" in results:
        line = f"edit {results['paused']}, then go on with --resume"
    else:
        line = f"model: {target / 'best'}"
    console.print(line, highlight=False, soft_wrap=True)
