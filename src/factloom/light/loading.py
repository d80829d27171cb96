"""Any model that has graphs, by its folder or name, without torch."""

from pathlib import Path

from factloom.errors import ModelError, Place
from factloom.light.eight_bits import Precision
from factloom.light.folder import has_graphs
from factloom.light.joint import LightJoint
from factloom.model_folders import load_config


def load(
    name: str | Path, device: str | None = None, precision: Precision = "float32"
) -> LightJoint:
    """A component that finds what the model finds."""
    path, config = load_config(name)
    if device not in (None, "cpu"):
        detail = "graphs are run by the processor"
        raise ModelError("no-device", Place(file=str(name)), device=device, detail=detail)
    if config["model"] != "joint" or not has_graphs(path):
        raise ModelError("no-graphs", Place(file=str(name)))
    return LightJoint(path, config, precision)
