"""What reasoning and each way to train it are worth on Re-DocRED: one table.

    python benchmarks/reasoning_table.py                          # train what is missing, print
    python benchmarks/reasoning_table.py --only atlop --only reasoning --seeds 42
    python benchmarks/reasoning_table.py --print                  # only what there is

Every model is trained on the same documents for the same epochs, once a seed; the best epoch is
chosen on held-out training documents, the scores are those of redocred/dev. Everything is kept
under runs/reasoning-table.
"""

import argparse
from pathlib import Path

from training_table import Table, Variant, add_arguments, make

REASONING = "docre-sd-redocred"
EPOCHS = "training.epochs=4"
ALONE = (EPOCHS, "plugins={}")  # without the self-distillation of the recipe
TABLE = Table(
    folder=Path("runs/reasoning-table"),
    variants={
        "atlop": Variant("atlop-redocred", (EPOCHS,)),
        "reasoning": Variant(REASONING, ALONE),
        "self_distillation": Variant(
            REASONING, (EPOCHS, "plugins.self_distillation.curriculum=constant")
        ),
        "curriculum": Variant(REASONING, (EPOCHS,)),
        "r_drop": Variant(REASONING, (*ALONE, "plugins.r_drop={}")),
        "distillation": Variant(
            REASONING, (*ALONE, "plugins.distillation.teacher={reasoning}/best")
        ),
    },
    measures={
        "f1": "F1",
        "ign_f1": "Ign F1",
        "intra_f1": "intra F1",
        "inter_f1": "inter F1",
        "infer_f1": "infer F1",
        "infer_accuracy": "infer accuracy",
    },
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser)
    make(TABLE, parser.parse_args())


if __name__ == "__main__":
    main()
