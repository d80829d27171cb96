"""All weights of a model as arrays, however it is stored (models/storage.py)."""

from pathlib import Path
from typing import Any

from factloom.encoders.pretrained import resolve
from factloom.errors import ModelError, Place
from factloom.models.weight_files import (
    CHANGES,
    PACKED,
    SCALE,
    WEIGHTS,
    Arrays,
    fingerprint,
    read_arrays,
    unpacked,
)

ENCODER_WEIGHTS, _BACKBONE = "encoder.", "backbone."
_UNUSED = ("pooler.", "embeddings.position_ids")  # of a pretrained encoder


def read_weights(path: Path, config: dict[str, Any]) -> Arrays:
    """By their names in the model."""
    if "base" in config:
        return _with_changes(path / CHANGES, config)
    if (path / PACKED).exists() and not (path / WEIGHTS).exists():
        packed, ties = read_arrays(path / PACKED)
        weights = _whole(path / PACKED, packed)
    else:
        weights, ties = read_arrays(path / WEIGHTS)
    return weights | {name: weights[kept] for name, kept in ties.items()}


def _with_changes(file: Path, config: dict[str, Any]) -> Arrays:
    """Those of the encoder that the model changes, with the changes, and its own."""
    started = started_weights(config["base"])
    if config.get("base_sha256") not in (None, fingerprint(started)):
        raise ModelError("base-changed", Place(file=str(file)), base=config["base"])
    packed, ties = read_arrays(file)
    weights = {ENCODER_WEIGHTS + name: value for name, value in started.items()}
    for name, change in _whole(file, packed).items():
        weights[name] = weights[name] + change if name in weights else change
    return weights | {name: weights[kept] for name, kept in ties.items()}


def started_weights(base: str) -> Arrays:
    """Those of a pretrained encoder, by their names in `Encoder`."""
    found, _ = read_arrays(Path(resolve(base)) / WEIGHTS)
    return {_BACKBONE + name: v for name, v in found.items() if not name.startswith(_UNUSED)}


def _whole(file: Path, packed: Arrays) -> Arrays:
    names = [name for name in packed if not name.endswith(SCALE)]
    return {
        name: unpacked(file, name, packed) if name + SCALE in packed else packed[name]
        for name in names
    }
