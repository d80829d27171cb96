"""How right completed relations are, on documents that were annotated in part and in full.

    python benchmarks/completion.py MODEL [MODEL ...] [--sure 0.7] [--doubt 2]    # a JSON line each

The documents are those that both DocRED (incomplete) and Re-DocRED (complete) have; the models must
not have been trained on them. Of the relations that DocRED lacks: `precision` is the part of the
added ones that are right, `recall` the part of the missing ones that are added, `doubted` the part
of the missing ones whose pair is unknown, so that nothing wrong is learned of it, and `denied` the
part that would be learned as not so. `before` is the last without any completion.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence

import factloom
from factloom.document import Document, Relation
from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.training.completion import completed, doubting

INCOMPLETE = "$FACTLOOM_DATA/docred/train_annotated_part.json"
COMPLETE = "$FACTLOOM_DATA/redocred/train.json"


def cells(relations: Iterable[Relation]) -> set[tuple[int, int, str]]:
    return {(relation.head, relation.tail, relation.type) for relation in relations}


def annotated_twice() -> list[tuple[Document, Document]]:
    """The documents of both files whose entities are the same."""
    whole = {document.id: document for document in read(data_path(COMPLETE))}
    pairs = []
    for document in read(data_path(INCOMPLETE)):
        other = whole.get(document.id)
        if other is not None and (other.text, len(other.entities)) == (
            document.text,
            len(document.entities),
        ):
            pairs.append((document, other))
    return pairs


def scores(
    pairs: Sequence[tuple[Document, Document]], answers: Sequence[Sequence[Document]], sure: float
) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for (partly, whole), *said in zip(pairs, *answers, strict=True):
        found = completed(partly, said, sure)
        missing = cells(whole.relations) - cells(partly.relations)
        added = cells(found.relations) - cells(partly.relations)
        unknown = {cell for cell in missing - added if cell[:2] in set(found.unknown)}
        counts += Counter(
            missing=len(missing), added=len(added), right=len(added & missing), doubted=len(unknown)
        )
    missing = max(counts["missing"], 1)
    lost = counts["missing"] - counts["right"] - counts["doubted"]
    return {
        "missing": counts["missing"],
        "added": counts["added"],
        "precision": round(counts["right"] / max(counts["added"], 1), 4),
        "recall": round(counts["right"] / missing, 4),
        "doubted": round(counts["doubted"] / missing, 4),
        "denied": round(lost / missing, 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", nargs="+")
    parser.add_argument("--sure", type=float, action="append")
    parser.add_argument("--doubt", type=float, default=0.0)
    given = parser.parse_args()
    pairs = annotated_twice()
    asked = [partly.without_relations() for partly, _ in pairs]
    answers = [doubting(factloom.load(model).model, given.doubt)(asked) for model in given.models]
    for sure in given.sure or [0.5, 0.6, 0.7, 0.8]:
        result = {"benchmark": "completion", "documents": len(pairs), "models": given.models}
        print(
            json.dumps(
                {**result, "sure": sure, "doubt": given.doubt, **scores(pairs, answers, sure)}
            )
        )


if __name__ == "__main__":
    main()
