"""What each objective learns from the same text, with the same network, in the same steps.

    python benchmarks/pretraining_table.py                        # all, 2000 steps each: hours
    python benchmarks/pretraining_table.py --only t5 --only glm --set training.steps=200
    python benchmarks/pretraining_table.py --vocabulary 4096 --tagger
    python benchmarks/pretraining_table.py --print --json         # only what there is, a line each

All are trained by configs/pretrain-from-nothing.toml, once a seed; what is finished is not made
again. `loss` is that of the objective on text that is held out, `tokens` that of its tokens alone,
to be compared with the entropy of single tokens, which is what is said by who has learned how
often each is there, and nothing else. Losses of two objectives cannot be compared: they ask for
other things. Tokens a second are slots of windows, the median over steps. `--vocabulary` makes a
tokenizer of so many pieces from the text itself, which a small network learns in less time.
`--tagger` then trains a tagger over each encoder, and over one that has learned nothing, on the
first tenth of CoNLL-2003: F1 on its whole development part. Everything is kept under
runs/pretraining-table.
"""

import argparse
import json
import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from training_table import CONFIGS, Table, Variant, read_arguments
from transformers import AutoTokenizer

from factloom.encoders.new_encoder import new_encoder
from factloom.encoders.pretrained import resolve
from factloom.files.data_path import data_path
from factloom.formats.text_parts import text_parts
from factloom.objectives import objective_kinds
from factloom.objectives.corpus import Corpus
from factloom.objectives.network import Network
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
NOTHING = "no pretraining"
TAGGER = "tagger-conll2003"
TAGGED, TAGGED_PART = "$FACTLOOM_DATA/conll2003/train.dictflags.txt", 0.1
MEASURES = {
    "loss": 2,
    "tokens": 2,
    "tokens_per_second": 0,
    "minutes": 1,
    "tagger": 3,
}  # and their digits


@dataclass(frozen=True, slots=True)
class PretrainingTable:
    """All trainings, under one folder, with the same tokens."""

    folder: Path
    vocabulary: int | None = None  # pieces of a tokenizer of its own; None for the recipe's

    def output(self, name: str, seed: int) -> Path:
        return self.folder / f"{re.sub(r'[^a-zA-Z0-9]+', '-', name)}-{seed}"

    def recipe(self, name: str, seed: int, changes: Sequence[str]) -> PretrainRecipe:
        shared = [f'data.tokenised="{self.folder / "text"}"', f"training.seed={seed}"]
        if self.vocabulary:
            shared.append(f'encoder.name="{self.folder / "tokenizer"}"')
        path = CONFIGS / f"{RECIPE}.toml"
        return read_settings(PretrainRecipe, path, [*VARIANTS[name], *changes, *shared])

    def train_missing(self, name: str, seed: int, changes: Sequence[str]) -> None:
        output = self.output(name, seed)
        if (output / RESULTS).exists():
            return
        print(f"training {output}", flush=True)
        self.make_tokenizer(changes)
        pretrain(
            self.recipe(name, seed, changes),
            output,
            resume=(output / "checkpoints").exists(),
            skipped=lambda problem: print(f"left out: {problem.error}", flush=True),
        )

    def make_tokenizer(self, changes: Sequence[str]) -> None:
        """That of the recipe, with pieces of the text that is learned from, once."""
        folder = self.folder / "tokenizer"
        if not self.vocabulary or folder.exists():
            return
        recipe = read_settings(PretrainRecipe, CONFIGS / f"{RECIPE}.toml", list(changes))
        parts = text_parts([data_path(path) for path in recipe.data.text], print)
        like: Any = AutoTokenizer.from_pretrained(resolve(recipe.encoder.name))
        texts = (part.document.text for part in parts)
        like.train_new_from_iterator(texts, self.vocabulary).save_pretrained(folder)

    def make_untrained(self, seed: int, changes: Sequence[str]) -> None:
        """The network that all begin with, as a folder."""
        recipe, output = self.recipe("masked", seed, changes), self.output(NOTHING, seed)
        assert recipe.network is not None
        window = recipe.encoder.window
        torch.manual_seed(seed)
        sizes = {**recipe.network.model_dump(), "positions": window}
        encoder = new_encoder(recipe.encoder.name, **sizes, window=window, overlap=0)
        Network(encoder).save(output / "best", with_head=False)

    def taggers(self, seed: int, changes: Sequence[str]) -> Table:
        """A tagger over each encoder."""
        part = self.folder / "tagged.txt"
        # windows as in pretraining, which knows no more positions
        shared = (f'data.train=["{part}"]', "encoder.overlap=32", *changes)
        variants = {
            name: Variant(TAGGER, (f'encoder.name="{self.output(name, seed) / "best"}"', *shared))
            for name in (NOTHING, *VARIANTS)
        }
        return Table(self.folder / "taggers", variants, {"f1": "F1"})

    def train_tagger(
        self, name: str, seed: int, changes: Sequence[str], of_tagger: Sequence[str]
    ) -> None:
        part = self.folder / "tagged.txt"
        if not part.exists():
            part.parent.mkdir(parents=True, exist_ok=True)
            sentences = Path(data_path(TAGGED)).read_text(encoding="utf-8").split("\n\n")
            kept = sentences[: round(len(sentences) * TAGGED_PART)]
            part.write_text("\n\n".join(kept) + "\n", encoding="utf-8")
        if name == NOTHING and not self.output(name, seed).exists():
            self.make_tokenizer(changes)
            self.make_untrained(seed, changes)
        self.taggers(seed, of_tagger).train_missing(name, seed, [])

    def scores(self, name: str, seed: int) -> dict[str, Any] | None:
        """None where the training is not finished."""
        output = self.output(name, seed)
        tagged = self.taggers(seed, []).scores(name, seed)
        found = {"objective": name, "seed": seed, "tagger": tagged and tagged["f1"]}
        if name == NOTHING:
            return found if tagged else None
        if not (output / RESULTS).exists():
            return None
        results = json.loads((output / RESULTS).read_text(encoding="utf-8"))
        lines = (output / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        speeds = [json.loads(line).get("tokens_per_second") for line in lines]
        return {
            **found,
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
            "| objective | seeds | steps | loss | of tokens | tokens a second | minutes | tagger |",
            "|---" * 8 + "|",
        ]
        for name in names:
            found = [scored for seed in seeds if (scored := self.scores(name, seed)) is not None]
            if found:
                cells = [_cell([one.get(key) for one in found], d) for key, d in MEASURES.items()]
                steps = max(one.get("steps", 0) for one in found)
                lines.append(f"| {name} | {len(found)} | {steps} | " + " | ".join(cells) + " |")
        return "\n".join(lines)


def _cell(values: Sequence[float | None], digits: int) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return ""
    spread = f" ± {statistics.stdev(known):.{digits}f}" if len(known) > 1 else ""
    return f"{statistics.mean(known):.{digits}f}{spread}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("runs/pretraining-table"))
    parser.add_argument("--vocabulary", type=int, help="pieces of a tokenizer made from the text")
    parser.add_argument("--tagger", action="store_true", help="train a tagger over each")
    parser.add_argument("--set-tagger", action="append", default=[], help="of its recipe")
    parser.add_argument("--json", action="store_true", help="a line for each training")
    arguments = read_arguments(parser)
    table = PretrainingTable(arguments.folder, arguments.vocabulary)
    names = arguments.only or ([NOTHING] if arguments.tagger else []) + list(VARIANTS)
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    if not arguments.print:
        for seed, name in product(seeds, names):
            if name != NOTHING:
                table.train_missing(name, seed, arguments.set)
            if arguments.tagger:
                table.train_tagger(name, seed, arguments.set, arguments.set_tagger)
    if arguments.json:
        for scored in (table.scores(name, seed) for name in names for seed in seeds):
            if scored is not None:
                print(json.dumps({**scored, "entropy": table.entropy()}))
        return
    print(table.shown(names, seeds))
    print(f"entropy of single tokens: {table.entropy():.2f}")


if __name__ == "__main__":
    main()
