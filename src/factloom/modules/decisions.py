"""Which relations of a pair hold, from their margins: above 0, and among the highest of the pair.

Every runtime decides with this: margins and scores are arrays of numpy.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]


def strongest(margins: Floats, most: int) -> NDArray[np.bool_]:
    """The relations that hold: margin above 0, and among the `most` highest of their pair.

    (pairs, relations) -> bool (pairs, relations)
    """
    held: NDArray[np.bool_] = margins > 0
    many = np.flatnonzero(held.sum(1) > most)  # pairs: of hardly any more than the most hold
    held[many] = highest(margins[many], most) > 0
    return held


def highest(scores: Floats, most: int) -> Floats:
    """The `most` highest scores of each pair, minus infinity for the others.

    (pairs, relations) -> (pairs, relations)
    """
    if most >= scores.shape[1]:
        return scores
    chosen = np.argpartition(-scores, most - 1, axis=1)[:, :most]  # (pairs, most)
    kept = np.full_like(scores, -np.inf)
    np.put_along_axis(kept, chosen, np.take_along_axis(scores, chosen, 1), 1)
    return kept


def balanced_shift(margins: Floats, most: int, gold: int) -> float:
    """What to add to the margins so that just `gold` relations hold: (pairs, relations) -> number.

    Precision is then equal to recall. 0 where there are not as many relations to choose from.
    """
    ranked = highest(margins, most)
    ranked = -np.sort(-ranked[np.isfinite(ranked)])
    if not 0 < gold < len(ranked):
        return 0.0
    return -float(ranked[gold - 1] + ranked[gold]) / 2
