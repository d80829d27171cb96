"""factloom train RECIPE.toml"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a setting: section.key=value. May be repeated."),
]
OutputOption = Annotated[
    Path | None, typer.Option(help="Where to write; runs/<name of the recipe> by default.")
]

ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Go on from the last checkpoint in the output.")
]


def train(
    recipe: Annotated[Path, typer.Argument(help="A TOML recipe, such as those in configs/.")],
    set_: SetOption = None,
    output: OutputOption = None,
    resume: ResumeOption = False,
) -> None:
    """Train a model by a recipe, fit its scores, and measure it."""
    from factloom.training.recipe import read_recipe

    settings = read_recipe(recipe, set_ or ())

    from rich.console import Console

    from factloom.training.run import train_recipe

    target = output_of(recipe, output)
    results = train_recipe(settings, target, resume=resume, recipe_name=str(recipe))
    if not results:  # another process reports
        return
    console = Console()
    for line in score_lines(results):
        console.print(line, highlight=False, soft_wrap=True)
    console.print(f"model: {target / 'best'}", highlight=False, soft_wrap=True)


def output_of(recipe: Path, output: Path | None) -> Path:
    """Where to write: what was said, else a folder that is called as the recipe."""
    return output or Path("runs") / recipe.stem


def score_lines(results: Mapping[str, Any]) -> Iterator[str]:
    """One line for the development documents, if there are any, and for each reported file."""
    for name, scores in {"development": results["development"], **results["report"]}.items():
        if scores:
            line = "  ".join(f"{key} {100 * value:.1f}" for key, value in scores.items())
            yield f"{name}: {line}"
