"""When two mentions are linked, from the score of the pair: a threshold, and a temperature."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factloom.modules.calibration import scores_from_margins

Floats = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Linking:
    """What is fitted after training; every runtime links with it."""

    threshold: float = 0.0
    temperature: float = 1.0

    def probability(self, scores: Floats) -> NDArray[np.float64]:
        """That two mentions name one thing, (pairs,) of (pairs,)."""
        return scores_from_margins(
            np.asarray(scores, np.float64) - self.threshold, self.temperature
        )
