"""What the tests of training share."""

from pathlib import Path

import pytest
from small_relations import relation_recipe

from factloom.document import Document
from factloom.training import reporting
from factloom.training.recipe import Recipe


@pytest.fixture(autouse=True)
def no_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most trainings of these tests take less time than the picture of them."""
    monkeypatch.setattr(reporting, "draw_curves", lambda *_: None)


@pytest.fixture
def recipe(tiny_encoder_path: Path, profiles: list[Document], tmp_path: Path) -> Recipe:
    """Two short epochs of a tiny model of relations."""
    return relation_recipe(tiny_encoder_path, profiles, tmp_path)
