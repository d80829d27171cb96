"""Labels of relevance that are found by intervention, with levels so that they do not flicker.

Ding, Zhou, Yang, Tang: CogLTX, NeurIPS 2020, section 3.3. A block is relevant if a reasoner is
worse off without it. With the rise of its loss d = loss(without the block) - loss(with it):

    level + 1   if d > t_up
    level - 1   if d < t_down
    relevant    if level >= 1

A level stays between LOWEST and HIGHEST: what was useful more than once is not forgotten for a
single time that it was not. Rises are compared as they are; a rounded one would say nothing.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Levels = NDArray[np.int8]

LOWEST, RELEVANT, HIGHEST = -1, 1, 2


def labels(levels: Levels) -> NDArray[np.bool_]:
    """Which blocks are relevant."""
    return levels >= RELEVANT


def move_levels(
    levels: Levels, blocks: Sequence[int], rises: Sequence[float], up: float, down: float
) -> None:
    """Change the levels of the blocks that were left out, by how much the loss rose, in place.

    >>> levels = np.array([0, 1, 2, 0], np.int8)
    >>> move_levels(levels, [0, 1, 3], [0.5, -0.3, 0.1], up=0.2, down=-0.05)
    >>> levels.tolist()
    [1, 0, 2, 0]
    """
    rise = np.asarray(rises, dtype=np.float64)
    change = (rise > up).astype(np.int8) - (rise < down).astype(np.int8)
    changed = levels[list(blocks)] + change
    levels[list(blocks)] = changed.clip(LOWEST, HIGHEST)
