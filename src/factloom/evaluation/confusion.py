"""Which relation was predicted where the gold has which."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document
from factloom.evaluation.relations import Prediction

NONE = "(none)"
OTHER = "(other)"

PairRelations = Mapping[tuple[str, int, int], set[str]]  # (document, head, tail): relations


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of (gold, predicted) relations; the labels end with "(other)" and "(none)"."""

    labels: tuple[str, ...]
    counts: NDArray[np.int64]  # (gold, predicted)


def confusion_counts(
    gold: Iterable[Document], predictions: Iterable[Prediction]
) -> Counter[tuple[str, str]]:
    """How often an entity pair has one relation in the gold and another predicted.

    A pair may have several relations. Those that gold and prediction share are paired with
    themselves; of the rest, every missed one is paired with every wrong one, or with "(none)".
    """
    wanted = _by_pair(Prediction(doc.id, relation) for doc in gold for relation in doc.relations)
    given = _by_pair(predictions)
    counts: Counter[tuple[str, str]] = Counter()
    for pair in wanted.keys() | given.keys():
        right, guessed = wanted.get(pair, set()), given.get(pair, set())
        missed, wrong = right - guessed, guessed - right
        counts.update((relation, relation) for relation in right & guessed)
        if missed or wrong:
            counts.update((m, w) for m in missed or {NONE} for w in wrong or {NONE})
    return counts


def largest_confusion(counts: Mapping[tuple[str, str], int], size: int = 10) -> Confusion:
    """The matrix of the `size` relations that take part most often, the others as one."""
    frequency: Counter[str] = Counter()
    for (right, guessed), count in counts.items():
        frequency.update({right: count})
        frequency.update({guessed: count})
    del frequency[NONE]
    ordered = sorted(frequency, key=lambda relation: (-frequency[relation], relation))
    shown = ordered[:size]
    labels = (*shown, *([OTHER] if len(ordered) > size else []), NONE)
    position = {label: index for index, label in enumerate(labels)}
    matrix = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for (right, guessed), count in counts.items():
        row, column = (r if r in position else OTHER for r in (right, guessed))
        matrix[position[row], position[column]] += count
    return Confusion(labels, matrix)


def _by_pair(predictions: Iterable[Prediction]) -> PairRelations:
    relations: defaultdict[tuple[str, int, int], set[str]] = defaultdict(set)
    for prediction in predictions:
        relation = prediction.relation
        relations[prediction.document, relation.head, relation.tail].add(relation.type)
    return relations
