"""Scores of relations between entities that were found: what they promise from raw text.

Between true entities a temperature makes scores honest (modules/calibration.py). From raw text more
goes wrong than the probabilities of relation and entities tell: names cut short, things taken for
each other. So the score p that they give together is scaled once more (Platt 1999),

    p' = sigmoid(slope * log(p / (1 - p)) + offset)

by what is right in documents that were not trained on, each of which counts as much as another.
A relation is right if both of its ends share a mention with those of a true one.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from factloom.document import Document
from factloom.modules.calibration import fit_line, log_odds


def scaled(score: float, slope: float, offset: float) -> float:
    """p', which keeps the order of scores."""
    if not 0.0 < score < 1.0:
        return score
    return 1 / (1 + math.exp(-(slope * log_odds(math.log(score)) + offset)))


def fit(gold: Sequence[Document], found: Sequence[Document]) -> tuple[float, float]:
    """Slope and offset by documents, and what was found in their text."""
    odds, right, weights = [], [], []
    for true, said in zip(gold, found, strict=True):
        for relation, holds in zip(said.relations, _right(true, said), strict=True):
            odds.append(log_odds(math.log(max(relation.score or 0.0, 1e-9))))
            right.append(holds)
            weights.append(1 / len(said.relations))
    return fit_line(odds, right, np.array(weights) * len(odds) / max(sum(weights), 1e-9))


def _right(true: Document, said: Document) -> list[bool]:
    """Whether each relation that was found is one of the document's."""
    owner = {
        (true.mentions[index].start, true.mentions[index].end): number
        for number, entity in enumerate(true.entities)
        for index in entity.mentions
    }
    meant: list[int | None] = []
    for entity in said.entities:
        places = [(said.mentions[m].start, said.mentions[m].end) for m in entity.mentions]
        shared = Counter(owner[place] for place in places if place in owner)
        meant.append(shared.most_common(1)[0][0] if shared else None)
    stated = {(relation.head, relation.type, relation.tail) for relation in true.relations}
    return [(meant[r.head], r.type, meant[r.tail]) in stated for r in said.relations]
