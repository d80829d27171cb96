"""What each part of the models of names is worth: one table a corpus.

    python benchmarks/names_table.py conll2003      # random field, word shapes, context, strategies
    python benchmarks/names_table.py weibo          # ways to use a lexicon; likewise resume
    python benchmarks/names_table.py genia          # nested names; likewise cmeee
    python benchmarks/names_table.py dictionary     # CoNLL-2003 without any annotation
    python benchmarks/names_table.py weibo --print  # only what there is

Every model of a table is trained on the same data, once a seed; the best epoch is chosen on
held-out training data (without annotation: the last one is taken), the scores are those of the
development file. Everything is kept under runs/names-CORPUS.
"""

import argparse
from pathlib import Path

from training_table import Table, Variant, make, read_arguments

CONLL = "tagger-conll2003"
PU = "pu-conll2003"
STUDENT = "student-conll2003"
HIDDEN = ('model.word="mean"', "model.hidden_words=0.3")
SHIPPED = 'encoder.name="factloom-en-small"'  # which has learned names from other annotated texts
MEASURES = {"f1": "F1", "precision": "precision", "recall": "recall"}
NESTED = {**MEASURES, "nested_recall": "recall of nested names"}


def lexicons(corpus: str) -> dict[str, Variant]:
    soft, flat = f"soft-lexicon-{corpus}", f"flat-{corpus}"
    return {
        "characters, BiLSTM": Variant(soft, ('model.lexicon="none"',)),
        "softword": Variant(soft, ('model.lexicon="softword"',)),
        "exsoftword": Variant(soft, ('model.lexicon="exsoftword"',)),
        "soft_lexicon": Variant(soft),
        "characters, Transformer": Variant(flat, ("model.words=[]",)),
        "flat": Variant(flat),
    }


AS_PUBLISHED = (
    "model.other_types=0.0",
    "model.hidden_words=0.0",
    "dictionary.parts={}",
    "dictionary.initials=[]",
)


def _risk(name: str) -> tuple[str, ...]:
    """One of the risks beside bnPU, with the cross-entropy that they were published with."""
    return (f'model.risk="{name}"', "model.exponent=0.0", *AS_PUBLISHED)


VARIANTS = {
    "conll2003": {
        "all": Variant(CONLL),
        "without random field": Variant(CONLL, ('model.output="softmax"',)),
        "without word shapes": Variant(CONLL, ("model.shapes=false",)),
        # as many words a step as with context
        "without context": Variant(CONLL, ("data.join_words=0", "training.batch_size=40")),
        "with FGM": Variant(CONLL, ("plugins.fgm={}",)),
        "with PGD": Variant(CONLL, ("plugins.pgd={}",)),
        "with SWA": Variant(CONLL, ("plugins.swa={}",)),
    },
    "weibo": lexicons("weibo"),
    "resume": lexicons("resume"),
    "genia": {"tagger": Variant("tagger-genia"), "mrc": Variant("mrc-genia")},
    "cmeee": {
        "tagger": Variant("tagger-cmeee"),
        "mrc": Variant("mrc-cmeee"),
        "mrc, from the tagger": Variant("mrc-cmeee", ('encoder.name="{tagger}/best"',)),
    },
    "dictionary": {
        "unlabelled as negative": Variant(PU, _risk("unlabelled_negative")),
        "bagging": Variant(PU, _risk("bagging")),
        "uPU": Variant(PU, _risk("upu")),
        "bnPU": Variant(PU, AS_PUBLISHED),
        "bnPU, prior estimated": Variant(PU, ('model.priors="estimated"', *AS_PUBLISHED)),
        "bnPU, all of the recipe": Variant(PU),
        "student": Variant(STUDENT, ('teacher.model="{bnPU, all of the recipe}/best"',)),
        "student of the student": Variant(STUDENT, ('teacher.model="{student}/best"',)),
        "student of the student, hidden words": Variant(
            STUDENT, ('teacher.model="{student}/best"', *HIDDEN)
        ),
        "AdaPU": Variant(PU, grows=True),
        "student of AdaPU": Variant(STUDENT, ('teacher.model="{AdaPU}/best"',)),
        "bnPU, shipped encoder": Variant(PU, (SHIPPED,)),
        "student, shipped encoder": Variant(
            STUDENT, (SHIPPED, 'teacher.model="{bnPU, shipped encoder}/best"')
        ),
        "student of the student, hidden words, shipped encoder": Variant(
            STUDENT, (SHIPPED, 'teacher.model="{student, shipped encoder}/best"', *HIDDEN)
        ),
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", choices=VARIANTS)
    arguments = read_arguments(parser)
    nested = arguments.corpus in ("genia", "cmeee")
    table = Table(
        folder=Path(f"runs/names-{arguments.corpus}"),
        variants=VARIANTS[arguments.corpus],
        measures=NESTED if nested else MEASURES,
    )
    make(table, arguments)


if __name__ == "__main__":
    main()
