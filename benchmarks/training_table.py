"""Many trainings, one table: what the scripts share that compare ways to train.

Each variant is trained once a seed, under its own folder; a training that was stopped goes on where
it was, one that is finished is not made again. The scores are those of the documents that the
recipe reports on.
"""

import argparse
import json
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from factloom.errors import RecipeError
from factloom.training.adaptive_dictionary import AdaptiveDictionary
from factloom.training.plugins import make_plugins
from factloom.training.recipe import Recipe, read_recipe
from factloom.training.run import RESULTS, train_recipe

CONFIGS = Path(__file__).parent.parent / "configs"
# What the last round of a growing dictionary has of its own.
OF_ROUNDS = {
    *(f"dictionary.{name}" for name in ("files", "types", "parts", "initials")),
    "model.priors",
}


@dataclass(frozen=True, slots=True)
class Variant:
    """A recipe with changes; `grows` for one whose dictionary grows round by round.

    Changes may name another variant's model: "{reasoning}" is its folder of the same seed.
    """

    recipe: str
    changes: tuple[str, ...] = ()
    grows: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Variants by name, kept under `folder`, and the measures to show with their headings."""

    folder: Path
    variants: Mapping[str, Variant]
    measures: Mapping[str, str]

    def output(self, name: str, seed: int) -> Path:
        plain = re.sub(r"\W+", "-", name)
        return self.folder / f"{plain}-{seed}"

    def recipe(self, name: str, seed: int, changes: Sequence[str]) -> Recipe:
        variant = self.variants[name]
        overrides = [*variant.changes, f"training.seed={seed}", *changes]
        for other in self.variants:
            folder = str(self.output(other, seed))
            overrides = [override.replace(f"{{{other}}}", folder) for override in overrides]
        return read_recipe(CONFIGS / f"{variant.recipe}.toml", overrides)

    def train_missing(self, name: str, seed: int, changes: Sequence[str]) -> None:
        output, recipe = self.output(name, seed), self.recipe(name, seed, changes)
        if (output / RESULTS).exists():
            _tell_other_settings(output, recipe, self.variants[name].grows)
            return
        print(f"training {output}", flush=True)
        if self.variants[name].grows:
            AdaptiveDictionary(recipe, output, resume=output.exists()).run()
        else:
            train_recipe(recipe, output, resume=(output / "checkpoints").exists())

    def scores(self, name: str, seed: int) -> dict[str, Any] | None:
        """On the reported documents; None where the training is not finished."""
        path = self.output(name, seed) / RESULTS
        if not path.exists():
            return None
        content = json.loads(path.read_text(encoding="utf-8"))
        found = list(content["report"].values()) or [content["development"]]
        return dict(found[0])

    def shown(self, names: Sequence[str], seeds: Sequence[int]) -> str:
        """In percent: mean, and standard deviation where there is more than one seed."""
        lines = ["| model | seeds | " + " | ".join(self.measures.values()) + " |"]
        lines.append("|---" * (len(self.measures) + 2) + "|")
        for name in names:
            found = [scored for seed in seeds if (scored := self.scores(name, seed)) is not None]
            if found:
                cells = [_cell([scored[key] for scored in found]) for key in self.measures]
                lines.append(f"| {name} | {len(found)} | " + " | ".join(cells) + " |")
        return "\n".join(lines)


def _tell_other_settings(output: Path, recipe: Recipe, grows: bool) -> None:
    """Say where a finished training had other settings than those that are asked for now."""
    config = json.loads((output / "best" / "config.json").read_text(encoding="utf-8"))
    kept, asked = config["provenance"]["recipe"], recipe.model_dump(mode="json")
    before, now = _plugin_settings(kept["plugins"]), _plugin_settings(asked["plugins"])
    if before.keys() != now.keys():
        names = (", ".join(own) or "none" for own in (before, now))
        print("{} was trained with plugins = {}, not {}".format(output, *names), flush=True)
    flat = [
        _flat({**content, "plugins": plugins})
        for content, plugins in ((kept, before), (asked, now))
    ]
    for key in sorted(flat[0].keys() & flat[1].keys()):
        if flat[0][key] != flat[1][key] and not (grows and key in OF_ROUNDS):
            values = f"{flat[0][key]}, not {flat[1][key]}"
            print(f"{output} was trained with {key} = {values}", flush=True)


def _plugin_settings(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The plug-ins with all of their settings, those that were not named too."""
    try:
        plugins = make_plugins(tables)
    except RecipeError:  # an old training may have had settings that are gone
        return dict(tables)
    return {
        name: plugin.settings.model_dump(mode="json")
        for name, plugin in zip(tables, plugins, strict=True)
    }


def _flat(settings: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Settings by their full names, such as "training.epochs"."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        inner = (
            _flat(value, f"{above}{key}.") if isinstance(value, Mapping) else {above + key: value}
        )
        flat.update(inner)
    return flat


def _cell(values: Sequence[float | None]) -> str:
    known = [100 * value for value in values if value is not None]
    if not known:
        return ""
    spread = f" ± {statistics.stdev(known):.1f}" if len(known) > 1 else ""
    return f"{statistics.mean(known):.1f}{spread}"


def read_arguments(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """What all tables can be asked for; from here on, torch computes with so many threads."""
    parser.add_argument("--only", action="append", help="a variant; may be repeated; else all")
    parser.add_argument("--seeds", default="42,43,44")
    parser.add_argument("--set", action="append", default=[], help="as factloom train --set")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--print", action="store_true", help="train nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    return arguments


def make(table: Table, arguments: argparse.Namespace) -> None:
    """Train what is missing, and print."""
    names = arguments.only or list(table.variants)
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    if not arguments.print:
        for seed in seeds:
            for name in names:
                table.train_missing(name, seed, arguments.set)
    print(table.shown(names, seeds))
