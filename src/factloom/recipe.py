"""A recipe: one TOML file that says what to train, on what, and how.

    [model]                      kind = "atlop" and the model's own settings
    [encoder]                    name, window, overlap, ...
    [data]                       train, development or hold_out, report, ...
    [training]                   see factloom.training.settings

Paths may hold environment variables: "$FACTLOOM_DATA/redocred/train.json". FACTLOOM_DATA is
"../shared/data" where it is not set. Relative paths are relative to the working directory.
"""

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from factloom.errors import Place, RecipeError
from factloom.training.settings import TrainingSettings

DEFAULT_DATA = "../shared/data"

SettingsT = TypeVar("SettingsT", bound=BaseModel)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EncoderRecipe(_Part):
    """Which encoder reads the text, and how it takes long documents."""

    name: str = Field("all-MiniLM-L6-v2", description="Hub name or directory.")
    window: PositiveInt = Field(512, description="Longest stretch encoded at once, in tokens.")
    overlap: int = Field(128, ge=0, description="Tokens that neighbouring windows share.")
    long_documents: Literal["windows", "error"] = Field(
        "windows", description="What to do with documents longer than a window."
    )
    attention_dropout: float = Field(
        0.0, ge=0, lt=1, description="0 lets CPUs use their fused attention kernel."
    )


class DataRecipe(_Part):
    """Which documents are trained on, which choose the best epoch, which are reported on."""

    train: list[str] = Field(min_length=1, description="Files to train on.")
    development: list[str] = Field(
        [], description="Files that choose the best epoch and fit thresholds and temperature."
    )
    hold_out: float = Field(
        0.0, ge=0, lt=1, description="Part of the training documents to use for that instead."
    )
    report: list[str] = Field([], description="Files that only the finished model is scored on.")
    train_facts: str | None = Field(
        None, description="Facts for Ign F1; those of the training files if absent."
    )
    relation_names: str | None = Field(
        None, description="JSON file {relation: name in words}, kept with the model."
    )
    format: str | None = Field(None, description="Format of the files; found by itself if absent.")

    @model_validator(mode="after")
    def _one_way_to_choose(self) -> Self:
        if bool(self.development) == bool(self.hold_out):
            raise ValueError("give either data.development or data.hold_out, and not both")
        return self


class Recipe(_Part):
    """A whole training."""

    model: dict[str, Any] = Field(description="The kind of model, and its own settings.")
    data: DataRecipe
    encoder: EncoderRecipe = EncoderRecipe()
    training: TrainingSettings = TrainingSettings()

    @property
    def kind(self) -> str:
        return str(self.model["kind"])

    @property
    def model_settings(self) -> dict[str, Any]:
        return {name: value for name, value in self.model.items() if name != "kind"}

    @model_validator(mode="after")
    def _kind_given(self) -> Self:
        if not isinstance(self.model.get("kind"), str):
            raise ValueError("model.kind is missing, such as kind = 'atlop'")
        return self


def read_recipe(path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a TOML recipe; `overrides` are "section.key=value" with the value as TOML."""
    place = Place(file=str(path))
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError("recipe-not-found", place) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError("recipe-not-toml", place, detail=error) from error
    for text in overrides:
        _override(content, text)
    return validated(Recipe, content, place)


def validated(kind: type[SettingsT], content: Mapping[str, Any], place: Place) -> SettingsT:
    """Settings from plain data, with all mistakes in one message."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        details = "; ".join(
            f"{'.'.join(map(str, found['loc'])) or 'recipe'}: {found['msg']}"
            for found in error.errors()
        )
        raise RecipeError("recipe-setting", place, detail=details) from error


def data_path(path: str) -> str:
    """A path with its environment variables filled in."""
    known = {"FACTLOOM_DATA": DEFAULT_DATA, **os.environ}
    try:
        return Template(path).substitute(known)
    except (KeyError, ValueError) as error:  # not set, or a "$" without a name
        raise RecipeError("recipe-variable", path=path) from error


def _override(content: dict[str, Any], text: str) -> None:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise RecipeError("recipe-override", text=text)
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value  # a bare word is a string
    *sections, name = key.strip().split(".")
    target = content
    for section in sections:
        inner = target.setdefault(section, {})
        if not isinstance(inner, dict):
            raise RecipeError("recipe-override", text=text)
        target = inner
    target[name] = parsed
