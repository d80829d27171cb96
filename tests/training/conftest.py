"""What the tests of training share."""

import pytest

from factloom.training import reporting


@pytest.fixture(autouse=True)
def no_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most trainings of these tests take less time than the picture of them."""
    monkeypatch.setattr(reporting, "draw_curves", lambda *_: None)
