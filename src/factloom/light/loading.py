"""Any model that has graphs, by its folder or name, without torch."""

from pathlib import Path
from typing import Any

from factloom.encoders.pretrained import resolve
from factloom.errors import ModelError, Place
from factloom.light.eight_bits import Precision
from factloom.light.folder import has_graphs
from factloom.light.kinds import KINDS, light_kind
from factloom.model_folders import load_config


def can_run(name: str | Path) -> bool:
    """Whether a model has graphs, and the encoder that it changes, if it is such a one, is here."""
    path, config = load_config(name)
    if config["model"] not in KINDS or not has_graphs(path):
        return False
    try:
        resolve(config.get("base") or str(path))
    except ModelError:
        return False
    return True


def load(name: str | Path, device: str | None = None, precision: Precision = "float32") -> Any:
    """A component that finds what the model finds."""
    path, config = load_config(name)
    if device not in (None, "cpu"):
        detail = "graphs are run by the processor"
        raise ModelError("no-device", Place(file=str(name)), device=device, detail=detail)
    if config["model"] not in KINDS or not has_graphs(path):
        raise ModelError("no-graphs", Place(file=str(name)))
    return light_kind(config["model"])(path, config, precision)
