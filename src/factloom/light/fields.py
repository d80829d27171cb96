"""What a random field over tags has learned, from the weights of a model."""

from collections.abc import Sequence

import numpy as np

from factloom.models.weight_files import Arrays
from factloom.modules.chains import FieldScores, forbidden_out
from factloom.text.tags import Scheme, allowed_transitions


def field_scores(tags: Sequence[str], scheme: Scheme, weights: Arrays) -> FieldScores:
    """Of a model whose field is called `field`."""
    allowed = allowed_transitions(tags, scheme)
    masks = {"transitions": allowed.between, "start": allowed.start, "end": allowed.end}
    learned = {name: weights[f"field.{name}"].astype(np.float64) for name in masks}
    return FieldScores(*(forbidden_out(learned[name], mask) for name, mask in masks.items()))
