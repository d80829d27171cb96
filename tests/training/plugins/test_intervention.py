"""Intervention moves the levels of blocks whose relevance nobody has told, and keeps them."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from factloom.errors import RecipeError
from factloom.training.plugins.intervention import Intervention, InterventionSettings


@dataclass
class Asked:
    key: str
    guessed: bool
    levels: Any = field(default_factory=lambda: np.array([1, 0, 0], np.int8))


class Model:
    """Block 0 misleads, block 2 helps."""

    def rises(self, question: Asked) -> tuple[list[int], list[float]]:  # noqa: ARG002
        return [0, 2], [-0.1, 0.3]


def step_of(*questions: Asked) -> Any:
    return SimpleNamespace(parts=[SimpleNamespace(batch=SimpleNamespace(questions=questions))])


def trainer_in(epoch: int, model: object) -> Any:
    return SimpleNamespace(model=model, progress=SimpleNamespace(epoch=epoch))


def test_levels_follow_the_reasoner_from_its_second_epoch_on() -> None:
    plugin = Intervention(InterventionSettings())
    guessed, told = Asked("a", guessed=True), Asked("b", guessed=False)
    for epoch, expected in enumerate([[1, 0, 0], [0, 0, 1], [-1, 0, 2], [-1, 0, 2]]):
        plugin.before_step(trainer_in(epoch, Model()), step_of(guessed, told))
        plugin.after_step(trainer_in(epoch, Model()), step_of(guessed, told))
        assert guessed.levels.tolist() == expected
    assert told.levels.tolist() == [1, 0, 0]


def test_a_resumed_training_knows_the_levels() -> None:
    plugin, other = (Intervention(InterventionSettings(first_epoch=0)) for _ in range(2))
    plugin.after_step(trainer_in(0, Model()), step_of(Asked("a", guessed=True)))
    state = plugin.state_dict()
    plugin.after_step(trainer_in(0, Model()), step_of(Asked("a", guessed=True)))
    other.load_state_dict(state)
    again = Asked("a", guessed=True)
    other.before_step(trainer_in(0, Model()), step_of(again))
    assert again.levels.tolist() == [0, 0, 1]


def test_a_model_without_blocks_is_refused() -> None:
    with pytest.raises(RecipeError, match="cannot-intervene"):
        Intervention(InterventionSettings()).on_start(trainer_in(0, object()))
