"""What reasoning and each way to train it are worth on Re-DocRED: one table.

    python benchmarks/reasoning_table.py                          # train what is missing, print
    python benchmarks/reasoning_table.py --only atlop,reasoning --seeds 42
    python benchmarks/reasoning_table.py --print                  # only what there is

Every model is trained on the same documents for the same epochs, once a seed; the best epoch is
chosen on held-out training documents, the scores are those of redocred/dev. A training that was
stopped goes on where it was. Everything is kept under runs/reasoning-table.
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import torch

from factloom.recipe import Recipe, read_recipe
from factloom.training.run import RESULTS, train_recipe

CONFIGS = Path(__file__).parent.parent / "configs"
FOLDER = Path("runs/reasoning-table")
MEASURES = {
    "f1": "F1",
    "ign_f1": "Ign F1",
    "intra_f1": "intra F1",
    "inter_f1": "inter F1",
    "infer_f1": "infer F1",
    "infer_accuracy": "infer accuracy",
}


def variants(seed: int) -> dict[str, tuple[str, dict[str, dict[str, Any]]]]:
    """Recipe and plug-ins by name; a later one may need an earlier one as its teacher."""
    return {
        "atlop": ("atlop-redocred", {}),
        "reasoning": ("docre-sd-redocred", {}),
        "self_distillation": (
            "docre-sd-redocred",
            {"self_distillation": {"curriculum": "constant"}},
        ),
        "curriculum": ("docre-sd-redocred", {"self_distillation": {}}),
        "r_drop": ("docre-sd-redocred", {"r_drop": {}}),
        "distillation": (
            "docre-sd-redocred",
            {"distillation": {"teacher": str(FOLDER / f"reasoning-{seed}" / "best")}},
        ),
    }


def recipe_of(name: str, seed: int, epochs: int) -> Recipe:
    base, plugins = variants(seed)[name]
    overrides = [f"training.seed={seed}", f"training.epochs={epochs}"]
    recipe = read_recipe(CONFIGS / f"{base}.toml", overrides)
    return recipe.model_copy(update={"plugins": plugins})


def train_missing(name: str, seed: int, epochs: int) -> None:
    output = FOLDER / f"{name}-{seed}"
    if not (output / RESULTS).exists():
        print(f"training {output}", flush=True)
        begun = (output / "checkpoints").exists()
        train_recipe(recipe_of(name, seed, epochs), output, resume=begun)


def scores(name: str, seed: int) -> dict[str, float] | None:
    """On the reported documents; None where the training is not finished."""
    path = FOLDER / f"{name}-{seed}" / RESULTS
    if not path.exists():
        return None
    [found] = json.loads(path.read_text(encoding="utf-8"))["report"].values()
    return dict(found)


def table(names: list[str], seeds: list[int]) -> str:
    """In percent: mean, and standard deviation where there is more than one seed."""
    lines = ["| model | seeds | " + " | ".join(MEASURES.values()) + " |"]
    lines.append("|---" * (len(MEASURES) + 2) + "|")
    for name in names:
        found = [result for seed in seeds if (result := scores(name, seed)) is not None]
        if found:
            cells = [_cell([100 * result[measure] for result in found]) for measure in MEASURES]
            lines.append(f"| {name} | {len(found)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(values: list[float]) -> str:
    spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{spread}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(variants(0)), help="names, in this order")
    parser.add_argument("--seeds", default="42,43,44")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--print", action="store_true", help="train nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    names = arguments.only.split(",")
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    if not arguments.print:
        for seed in seeds:
            for name in names:
                train_missing(name, seed, arguments.epochs)
    print(table(names, seeds))


if __name__ == "__main__":
    main()
