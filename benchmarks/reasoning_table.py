"""What reasoning and each way to train it are worth on Re-DocRED: one table.

    python benchmarks/reasoning_table.py                          # train what is missing, print
    python benchmarks/reasoning_table.py --only atlop --only reasoning --seeds 42
    python benchmarks/reasoning_table.py --print                  # only what there is

Encoders learn relations slowly and are not what is compared. So one is trained first, as ATLOP's,
and every model starts from it: the same words in, and all else is learned anew, once a seed, from
the same documents for the same epochs, while the encoder stays as it is. The best epoch is chosen
on held-out training documents, the scores are those of redocred/dev. Everything is kept under
runs/reasoning-table.

The adaptive thresholds of some are more cautious than those of others, which would hide what they
have learned. So each is shifted to find as many relations in the held-out documents as people did
there; --set model.threshold_shift=0.0 leaves them as they were learned.
"""

import argparse
from pathlib import Path

from training_table import Table, Variant, make, read_arguments

FOLDER = Path("runs/reasoning-table")
START, START_SEED = "start", 42
START_TABLE = Table(
    folder=FOLDER,
    variants={
        START: Variant(
            "atlop-redocred",
            (
                'encoder.name="factloom-en-small"',  # which has learned from the same documents
                "training.epochs=2",
                'training.learning_rates={encoder=5e-5, ""=4e-4}',
            ),
        )
    },
    measures={},
)
REASONING = "docre-sd-redocred"
SAME = (
    f'encoder.name="{START_TABLE.output(START, START_SEED)}/best"',
    'training.learning_rates={encoder=0.0, ""=4e-4}',
    "training.batch_size=2",
    "training.epochs=1",
    'model.threshold_shift="balanced"',
)
ALONE = (*SAME, "plugins={}")  # without the self-distillation of the recipe
TABLE = Table(
    folder=FOLDER,
    variants={
        "atlop": Variant("atlop-redocred", SAME),
        "reasoning": Variant(REASONING, ALONE),
        "self_distillation": Variant(
            REASONING, (*SAME, "plugins.self_distillation.curriculum=constant")
        ),
        "curriculum": Variant(REASONING, SAME),
        "r_drop": Variant(REASONING, (*ALONE, "plugins.r_drop={}")),
        "distillation": Variant(
            REASONING, (*ALONE, "plugins.distillation.teacher={reasoning}/best")
        ),
    },
    measures={
        "f1": "F1",
        "ign_f1": "Ign F1",
        "precision": "precision",
        "recall": "recall",
        "intra_f1": "intra F1",
        "inter_f1": "inter F1",
        "infer_f1": "infer F1",
        "infer_accuracy": "infer accuracy",
    },
)


def main() -> None:
    arguments = read_arguments(argparse.ArgumentParser(description=__doc__.splitlines()[0]))
    if not arguments.print:
        START_TABLE.train_missing(START, START_SEED, ())
    make(TABLE, arguments)


if __name__ == "__main__":
    main()
