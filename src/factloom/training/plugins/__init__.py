"""Plug-ins that a recipe can name: one file each, which exports PLUGIN and SETTINGS.

    [plugins.fgm]                the name of the file
    epsilon = 0.5                its settings; the table may be empty

`PLUGIN(settings)` is a `factloom.training.plugin.Plugin`. Nothing is imported here before a recipe
names it, so that reading a recipe does not load torch.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from factloom.errors import Place, RecipeError
from factloom.training.recipe import mistakes

if TYPE_CHECKING:
    from factloom.training.plugin import Plugin


def plugin_names() -> list[str]:
    """The plug-ins that there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def make_plugins(
    tables: Mapping[str, Mapping[str, Any]], place: Place | None = None
) -> "list[Plugin]":
    """The plug-ins of a recipe's `plugins` tables, in their order; `place` is the recipe."""
    place = place or Place()
    known = plugin_names()
    for name in tables:
        if name not in known:
            raise RecipeError("unknown-plugin", place, name=name, known=", ".join(known))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in tables}
    return [
        module.PLUGIN(_settings(name, module.SETTINGS, tables[name], place))
        for name, module in modules.items()
    ]


def _settings(
    name: str, kind: type[BaseModel], content: Mapping[str, Any], place: Place
) -> BaseModel:
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise RecipeError(
            "plugin-setting",
            place,
            detail=mistakes(error, kind, f"plugins.{name}"),
            name=name,
            known=", ".join(kind.model_fields) or "none",
        ) from error
