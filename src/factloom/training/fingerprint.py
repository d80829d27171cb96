"""What a training depends on, so that a checkpoint is not continued by another training."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from torch import nn

from factloom.files.data_path import data_path
from factloom.training.plugin import Plugin
from factloom.training.settings import FREE_ON_RESUME, TrainingSettings

if TYPE_CHECKING:
    from factloom.training.sources import Source

_MARKS = ("case", "types", "parts", "initials")  # what decides which words a dictionary marks


def fingerprint(
    model: nn.Module,
    source: "Source",
    settings: TrainingSettings,
    plugins: Iterable[Plugin],
    processes: int,
    precision: str,
) -> dict[str, Any]:
    """Everything that decides the weights at the end, beside the code: one entry a cause."""
    chosen = settings.model_dump(mode="json", exclude=set(FREE_ON_RESUME))
    shapes = ((name, list(weights.shape)) for name, weights in model.state_dict().items())
    return {
        **{f"training.{name}": value for name, value in chosen.items()},
        **_of_model(model),
        **_of_recipe(getattr(model, "provenance", {})),
        "computing precision": precision,
        "number of processes": processes,
        **source.fingerprint(),
        "names and shapes of the weights": digest(shapes),
        "plug-ins": [_described(plugin) for plugin in plugins],
    }


def differences(saved: dict[str, Any], current: dict[str, Any]) -> list[str]:
    """The entries that differ, told to people."""
    names = [*current, *(name for name in saved if name not in current)]
    return [
        f"{name} was {saved.get(name)!r} and is {current.get(name)!r}"
        for name in names
        if saved.get(name) != current.get(name)
    ]


def _of_model(model: nn.Module) -> dict[str, Any]:
    """Its settings, of which those that were learned from the documents may be long."""
    if not isinstance(settings := getattr(model, "settings", None), BaseModel):
        return {}
    return {
        f"model.{name}": value if len(repr(value)) < 100 else digest([value])
        for name, value in settings.model_dump(mode="json").items()
    }


def _of_recipe(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The encoder, and every file that is read before the training has ended."""
    recipe, files = provenance.get("recipe", {}), provenance.get("data_sha256", {})
    only_reported = recipe.get("data", {}).get("report", ())
    # that of a round lies in the training's own folder, which may have been moved
    lists = {Path(data_path(path)) for path in (recipe.get("dictionary") or {}).get("files", ())}
    marking = {
        f"{part}.{name}": value
        for part, own in (("dictionary", _MARKS), ("teacher", ("sure",)))
        for name, value in (recipe.get(part) or {}).items()
        if name in own
    }
    names = {name for name in files if not lists.isdisjoint({Path(name), *Path(name).parents})}
    return {
        **{f"encoder.{name}": value for name, value in recipe.get("encoder", {}).items()},
        "weights of the encoder": provenance.get("encoder_sha256"),
        "dictionary": [files[name] for name in sorted(names)],
        **marking,
        **{n: value for n, value in files.items() if n not in only_reported and n not in names},
    }


def _described(plugin: Plugin) -> str:
    """Its name and settings, such as Fgm(epsilon=1.0)."""
    chosen = {} if plugin.settings is None else plugin.settings.model_dump(mode="json")
    given = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
    return f"{type(plugin).__name__}({given})"


def digest(items: Iterable[object]) -> str:
    """A short text that is another one for other items."""
    digest = hashlib.sha256()
    for item in items:
        digest.update(f"{item!r}\n".encode())
    return digest.hexdigest()[:16]
