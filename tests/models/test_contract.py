"""The contract of models: who keeps it, and which kinds there are."""

import inspect
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from torch import nn

from factloom.errors import ModelError
from factloom.models import Model, storage

METHODS = {
    name for name, value in vars(Model).items() if not name.startswith("_") and callable(value)
} | {"from_documents", "from_config"}
KINDS = storage.model_kinds()


def test_every_kind_is_found_by_its_file() -> None:
    assert {"atlop", "joint", "tagger", "soft_lexicon", "positive_unlabelled"} <= set(KINDS)
    assert not {"storage", "relation_decoding", "consistency"} & set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_has_what_the_contract_says(kind: str) -> None:
    model, settings = storage.model_class(kind), storage.model_settings(kind)
    assert issubclass(model, nn.Module)
    assert issubclass(settings, BaseModel)
    assert storage.kind_of(model) == kind
    assert isinstance(model.task, str)
    for method in METHODS:
        asked = inspect.signature(getattr(Model, method)).parameters
        given = inspect.signature(getattr(model, method)).parameters
        bound = inspect.ismethod(getattr(model, method))  # of the class
        assert list(given)[not bound :] == list(asked)[not bound :], method


@pytest.mark.parametrize("kind", KINDS)
def test_every_setting_is_described(kind: str) -> None:
    for name, field in storage.model_settings(kind).model_fields.items():
        assert field.description, name


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("taggr", "Did you mean 'tagger'?"),
        ("soft-lexicon", "Did you mean 'soft_lexicon'?"),
        ("abacus", "The kinds are: atlop, cogltx, cogqa, coreference"),
        ("storage", "The kinds are:"),
        ("", "The kinds are:"),
        ("models.tagger", "Did you mean 'tagger'?"),
    ],
)
def test_an_unknown_kind_is_told_with_those_that_exist(kind: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        storage.model_class(kind)
    assert caught.value.code == "unknown-model"
    assert said in str(caught.value)
    for known in KINDS:
        assert known in str(caught.value)


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two further rooms, behind the models and one that is missing; each file says its room."""
    for room, files in {"first_room": ["mine"], "second_room": ["mine", "other"]}.items():
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").touch()
        for name in files:
            (tmp_path / room / f"{name}.py").write_text(f"MODEL, SETTINGS = {room!r}, {name!r}\n")
    (tmp_path / "second_room" / "tools.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    places = (*storage.ROOMS[:1], "factloom.no_such_room", "first_room", "second_room")
    monkeypatch.setattr(storage, "ROOMS", places)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0].endswith("_room")]:
        del sys.modules[name]


@pytest.mark.usefixtures("rooms")
def test_kinds_are_looked_for_in_one_room_after_the_other() -> None:
    assert storage.model_class("mine") == "first_room"
    assert storage.model_class("other") == "second_room"
    assert storage.model_settings("other") == "other"
    assert {"mine", "other", "tagger"} <= set(storage.model_kinds())
    with pytest.raises(ModelError, match="'tools'"):
        storage.model_class("tools")
