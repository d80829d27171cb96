"""What each objective learns from the same text, with the same network, in the same steps.

    python benchmarks/pretraining_table.py                        # all, 2000 steps each: hours
    python benchmarks/pretraining_table.py --only t5 --only glm --set training.steps=200
    python benchmarks/pretraining_table.py --print --json         # only what there is, a line each

All are trained by configs/pretrain-from-nothing.toml, once a seed; what is finished is not made
again. `loss` is that of the objective on text that is held out, `tokens` that of its tokens alone,
to be compared with the entropy of single tokens, which is what is said by who has learned how often
each is there, and nothing else. Losses of two objectives cannot be compared: they ask for other
things. Tokens a second are slots of windows, the median over steps. Everything is kept under
runs/pretraining-table.
"""

import argparse
import json
import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from training_table import CONFIGS, read_arguments

from factloom.objectives import objective_kinds
from factloom.objectives.corpus import Corpus
from factloom.training.pretraining import pretrain
from factloom.training.recipe import read_settings
from factloom.training.run import RESULTS
from factloom.training.text_recipe import PretrainRecipe

RECIPE = "pretrain-from-nothing"
MEMORY = ("network.memory=128", "network.evaluation_memory=512")
VARIANTS: dict[str, tuple[str, ...]] = {
    **{kind: (f'objective.kind="{kind}"',) for kind in objective_kinds()},
    "causal, relative positions": ('objective.kind="causal"', "network.relative_positions=127"),
    "causal, Transformer-XL": ('objective.kind="causal"', *MEMORY),
}
MEASURES = {"loss": 2, "tokens": 2, "tokens_per_second": 0, "minutes": 1}  # and their digits


@dataclass(frozen=True, slots=True)
class PretrainingTable:
    """All trainings, under one folder, with the same tokens."""

    folder: Path

    def output(self, name: str, seed: int) -> Path:
        return self.folder / f"{re.sub(r'[^a-zA-Z0-9]+', '-', name)}-{seed}"

    def recipe(self, name: str, seed: int, changes: Sequence[str]) -> PretrainRecipe:
        shared = [f'data.tokenised="{self.folder / "text"}"', f"training.seed={seed}"]
        path = CONFIGS / f"{RECIPE}.toml"
        return read_settings(PretrainRecipe, path, [*VARIANTS[name], *shared, *changes])

    def train_missing(self, name: str, seed: int, changes: Sequence[str]) -> None:
        output = self.output(name, seed)
        if (output / RESULTS).exists():
            return
        print(f"training {output}", flush=True)
        pretrain(
            self.recipe(name, seed, changes),
            output,
            resume=(output / "checkpoints").exists(),
            skipped=lambda problem: print(f"left out: {problem.error}", flush=True),
        )

    def scores(self, name: str, seed: int) -> dict[str, Any] | None:
        """None where the training is not finished."""
        output = self.output(name, seed)
        if not (output / RESULTS).exists():
            return None
        results = json.loads((output / RESULTS).read_text(encoding="utf-8"))
        lines = (output / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        speeds = [json.loads(line).get("tokens_per_second") for line in lines]
        return {
            "objective": name,
            "seed": seed,
            "steps": results["training"]["steps"],
            "loss": results["development"]["loss"],
            "tokens": math.log(results["development"]["perplexity"]),
            "tokens_per_second": statistics.median(speed for speed in speeds if speed),
            "minutes": results["training"]["seconds"] / 60,
        }

    def entropy(self) -> float:
        """-sum over tokens of p log p, p being how often each is there in the text."""
        counts = np.bincount(Corpus.open(self.folder / "text" / "0").ids)
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log(shares)).sum())

    def shown(self, names: Sequence[str], seeds: Sequence[int]) -> str:
        lines = [
            "| objective | seeds | steps | loss | of tokens | tokens a second | minutes |",
            "|---" * 7 + "|",
        ]
        for name in names:
            found = [scored for seed in seeds if (scored := self.scores(name, seed)) is not None]
            if found:
                cells = [_cell([one[key] for one in found], d) for key, d in MEASURES.items()]
                steps = max(one["steps"] for one in found)
                lines.append(f"| {name} | {len(found)} | {steps} | " + " | ".join(cells) + " |")
        return "\n".join(lines)


def _cell(values: Sequence[float], digits: int) -> str:
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("runs/pretraining-table"))
    parser.add_argument("--json", action="store_true", help="a line for each training")
    arguments = read_arguments(parser)
    table = PretrainingTable(arguments.folder)
    names = arguments.only or list(VARIANTS)
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    if not arguments.print:
        for seed in seeds:
            for name in names:
                table.train_missing(name, seed, arguments.set)
    if arguments.json:
        for scored in (table.scores(name, seed) for name in names for seed in seeds):
            if scored is not None:
                print(json.dumps({**scored, "entropy": table.entropy()}))
        return
    print(table.shown(names, seeds))
    print(f"entropy of single tokens: {table.entropy():.2f}")


if __name__ == "__main__":
    main()
