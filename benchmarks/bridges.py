"""Does a model reason? Relations that no sentence states, but that follow through a bridge.

    python benchmarks/bridges.py                         # all models: a JSON line each
    python benchmarks/bridges.py --models atlop,docre_sd --epochs 5

Documents are made by examples/make_bridges.py: to train on, to choose the best epoch by, and to
measure on; no name of the first is in the two others. All models are trained alike: the same
documents, seed and epochs. `docre_sd_without_1` is DocRE-SD trained without the attention head of
pattern 1: other heads may learn to make up for it. What a head is worth to a whole trained model,
`silenced` says: the accuracy by pattern when the heads of one pattern say nothing. A second layer
can make up for a silent head too, so `docre_sd_one_layer` has only one.

A line holds the F1 over all relations, that of the stated ones (has the model learned to read?),
and of the derived relations, those that no sentence states, F1 and accuracy (the part of them that
was found), together and by pattern. `explained` is
the part of the found ones whose most attended bridge is the right one, whatever else was found;
`null` for a model that does not say. `infer_accuracy` is the general measure, which knows no types
and so counts premises too, because each follows from the derived relation and the other premise.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

from bridge_sentences import CHAINS
from make_bridges import bridge_documents

from factloom import formats
from factloom.document import Document, Relation
from factloom.evaluation.relations import Counts, evaluate
from factloom.models.docre_sd import DocreSd
from factloom.models.storage import load
from factloom.training.recipe import Recipe
from factloom.training.run import train_recipe

DERIVED = {chain.derived: chain.pattern for chain in CHAINS}
PATTERNS = tuple(DERIVED.values())
EVERY = 10_000  # more bridges than a document has
MODELS: dict[str, dict[str, Any]] = {
    "atlop": {"kind": "atlop", "block_size": 32},
    "docre_sd": {"kind": "docre_sd"},
    "docre_sd_one_layer": {"kind": "docre_sd", "layers": 1},
    **{
        f"docre_sd_without_{removed}": {
            "kind": "docre_sd",
            "patterns": [pattern for pattern in PATTERNS if pattern != removed],
        }
        for removed in PATTERNS
    },
}


def main(command_line: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(command_line)
    test = bridge_documents(arguments.test, arguments.seed + 1, "dev")
    for name in arguments.models.split(","):
        with tempfile.TemporaryDirectory() as directory:
            start = time.perf_counter()
            train_recipe(recipe(name, arguments, Path(directory)), Path(directory) / "run")
            seconds = time.perf_counter() - start
            model = load(Path(directory) / "run" / "best")
        if isinstance(model, DocreSd):  # name all bridges, not only those that explain best
            model.settings = model.settings.model_copy(update={"explain": EVERY})
        predicted = model.predict(test)
        line = {"model": name, "seed": arguments.seed, "epochs": arguments.epochs}
        line |= {"seconds": round(seconds), **scores(test, predicted)}
        if isinstance(model, DocreSd) and "patterns" not in MODELS[name]:
            line["silenced"] = {pattern: silenced(model, pattern, test) for pattern in PATTERNS}
        print(json.dumps(line), flush=True)


def parse_arguments(command_line: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS), help="which, separated by commas")
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    parser.add_argument("--train", type=int, default=600, help="documents to train on")
    parser.add_argument("--dev", type=int, default=30, help="documents to choose the epoch by")
    parser.add_argument("--test", type=int, default=120, help="documents to measure on")
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument(
        "--self-distillation",
        action="store_true",
        help="train DocRE-SD with the plug-in of that name",
    )
    return parser.parse_args(command_line)


def recipe(name: str, arguments: argparse.Namespace, directory: Path) -> Recipe:
    files = {}
    for split in ("train", "dev"):
        documents = bridge_documents(getattr(arguments, split), arguments.seed, split)
        files[split] = directory / f"{split}.jsonl"
        formats.write(documents, files[split])
    reasons = MODELS[name]["kind"] == "docre_sd"
    return Recipe.model_validate(
        {
            "model": MODELS[name],
            "encoder": {"name": arguments.encoder},
            "data": {"train": [str(files["train"])], "development": [str(files["dev"])]},
            "training": {
                "epochs": arguments.epochs,
                "batch_size": 4,
                "learning_rates": {"encoder": 1e-4, "": 5e-4},
                "seed": arguments.seed,
            },
            "plugins": {"self_distillation": {}} if reasons and arguments.self_distillation else {},
        }
    )


def scores(gold: Sequence[Document], predicted: Sequence[Document]) -> dict[str, Any]:
    report = evaluate(gold, predicted)
    by_pattern = {
        pattern: report.per_relation.get(relation, Counts())
        for relation, pattern in DERIVED.items()
    }
    derived = sum(by_pattern.values(), Counts())
    stated = (counts for name, counts in report.per_relation.items() if name not in DERIVED)
    return {
        "f1": round(report.f1, 4),
        "infer_accuracy": round(report.infer_accuracy, 4),
        "stated_f1": round(sum(stated, Counts()).f1, 4),
        "derived_f1": round(derived.f1, 4),
        "derived_accuracy": round(derived.recall, 4),
        "derived_accuracy_by_pattern": {
            pattern: round(counts.recall, 4) for pattern, counts in by_pattern.items()
        },
        "explained": explained(gold, predicted),
    }


def silenced(model: DocreSd, pattern: int, gold: Sequence[Document]) -> dict[int, float]:
    """The accuracy by pattern without the heads of one."""
    with model.silenced(pattern):
        found = scores(gold, model.predict(gold))
    accuracy: dict[int, float] = found["derived_accuracy_by_pattern"]
    return accuracy


def explained(gold: Sequence[Document], predicted: Sequence[Document]) -> float | None:
    """How often the bridge of a found relation that was attended to most is the right one."""
    right = [
        most["entity"] == wanted["bridge"]
        for expected, document in zip(gold, predicted, strict=True)
        for key, wanted in derivations(expected).items()
        for relation in document.relations
        if triple(relation) == key and (bridges := relation.provenance.get("bridges"))
        for most in [max(bridges, key=lambda bridge: bridge["weight"])]
    ]
    return round(sum(right) / len(right), 4) if right else None


def derivations(document: Document) -> dict[tuple[int, str, int], Any]:
    """Pattern and bridge of each derived relation."""
    return {
        triple(relation): relation.attributes
        for relation in document.relations
        if relation.type in DERIVED
    }


def triple(relation: Relation) -> tuple[int, str, int]:
    return relation.head, relation.type, relation.tail


if __name__ == "__main__":
    main()
