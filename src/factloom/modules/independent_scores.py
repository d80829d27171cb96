"""Tags that do not look at each other, in numpy: what modules/independent_tags.py decides.

Emissions are (batch, length, tags) and lengths (batch,) everywhere.
"""

from dataclasses import dataclass

import numpy as np

from factloom.modules.chains import Floats, Integers, PathProbabilities
from factloom.text.tags import Booleans


@dataclass(frozen=True, slots=True)
class IndependentScores:
    """Has learned nothing: each word is decided by its own emissions."""

    def decode(self, emissions: Floats, lengths: Integers) -> Integers:
        """(batch, length) the most probable tags, 0 behind the end."""
        return np.where(_inside(emissions, lengths), emissions.argmax(2), 0)

    def path_probabilities(
        self, emissions: Floats, paths: Integers, lengths: Integers
    ) -> PathProbabilities:
        """How probable the tags of the paths (batch, length) are; none knows of another."""
        exact = emissions.astype(np.float64)
        likely = np.exp(exact - exact.max(2, keepdims=True))
        likely /= likely.sum(2, keepdims=True)
        chosen = np.take_along_axis(likely, paths[..., None], 2)[..., 0]  # (batch, length)
        chosen = np.where(_inside(emissions, lengths), chosen, 1.0)
        return PathProbabilities(chosen, chosen)


def _inside(emissions: Floats, lengths: Integers) -> Booleans:
    """bool (batch, length), False behind the end"""
    inside: Booleans = np.arange(emissions.shape[1]) < lengths[:, None]
    return inside
