"""The mean of two models' weights, of which the second went on from the first.

Wortsman, Ilharco, Kim, Li, et al.: Robust Fine-Tuning of Zero-Shot Models, CVPR 2022, arXiv
2109.01903.

    weights = (1 - part) * first + part * second

A training that goes on with other documents gains on texts like these and loses on those that the
first model was trained for. The weights between both keep most of the gain and lose less, since the
loss is low along the whole line between them; between two models that were trained apart it is
not. What the second has learned to do beside what the first could stays as it is. Scores have to
be fitted anew.
"""

from typing import Any

import torch

from factloom.errors import ModelError, Place
from factloom.models.storage import kind_of


def average(first: Any, second: Any, part: float, *, name: str = "") -> Any:
    """The second model, with the mean in place of its weights; `name` is what an error calls it."""
    _require_same_make(first, second, name)
    begun = first.state_dict()
    with torch.no_grad():
        for key, weights in second.state_dict().items():
            if weights.is_floating_point() and key in begun:
                weights.lerp_(begun[key].to(weights), 1 - part)
    return second


def _require_same_make(first: Any, second: Any, name: str) -> None:
    """The same labels in the same order, and the layers of the first."""
    begun, ended = _make(first), _make(second)
    for key in begun:
        if begun[key] != ended.get(key):
            raise ModelError("not-of-one-training", Place(file=name), what=key)


def _make(model: Any) -> dict[str, Any]:
    """What the weights of both models have to share, the most telling first."""
    kind = {"model": kind_of(type(model))}
    labels = {key: value for key, value in model.config().items() if key != "settings"}
    shapes = {key: tuple(weights.shape) for key, weights in model.state_dict().items()}
    return kind | labels | shapes
