"""A model as what training changed: a small file beside a pretrained encoder that everybody has.

The encoder's weights W are those of the base encoder plus a change D; the other weights start from
nothing. Matrices are kept as whole numbers of 8 bits, with a scale a row:

    D_row = s_row q_row,   s_row = max |D_row| / 127,   q in -127 ... 127

so no weight is off by more than half a step, s_row / 2: of the change, not of the weight. Vectors
(biases, norms) are kept as they are, and what training left alone is not kept at all.

A model whose encoder not everybody has is kept whole: D = W for all weights, and the encoder's
configuration and tokenizer beside them. A step of W is much larger than one of a change, so each
`BLOCK` numbers of a row have a scale of their own, which halves the error of one scale a row.
"""

from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError, Place
from factloom.model_folders import write_config
from factloom.models.storage import config_of, writing
from factloom.models.weight_files import (
    CHANGES,
    ENCODER,
    PACKED,
    SCALE,
    fingerprint,
    require_names,
    unpacked,
)
from factloom.models.weights import (
    Weights,
    distinct_weights,
    read_weights,
    require_fit,
    tie,
    write_weights,
)

_ENCODER = "encoder."
_STEPS = 127
BLOCK = 64  # numbers of a row that share a scale in a model that is kept whole


def save_compressed(model: Any, directory: Path, base: str) -> None:
    """Write config.json and the changes; `base` names the encoder that training began with."""
    if model.encoder is None:
        raise ModelError("model-without-encoder")
    started = Encoder.load(base).state_dict()
    weights, ties = distinct_weights(cast(nn.Module, model))
    changes: Weights = {}
    for name, value in weights.items():
        part = name.removeprefix(_ENCODER)
        if name.startswith(_ENCODER):
            _require_same_shape(started.get(part), value, name, base)
            value = value - started[part]
            if not value.any():
                continue
        changes |= _packed(name, value)
    origin = {"base": base, "base_sha256": _fingerprint(started)}
    with writing(directory):
        write_config(directory, {**config_of(model), **origin})
        write_weights(directory / CHANGES, changes, ties)
        (directory / PACKED).unlink(missing_ok=True)  # of a model that was here before


def load_changes(model: Any, path: Path, config: dict[str, Any]) -> None:
    """Bring a model, whose encoder is the base, to the weights that were compressed."""
    file = path / CHANGES
    packed, ties = read_weights(file)
    base = config.get("base_sha256")  # models of before have none
    if base is not None and base != _fingerprint(model.encoder.state_dict()):
        raise ModelError("base-changed", Place(file=str(file)), base=config["base"])
    weights = cast(nn.Module, model).state_dict()
    changes = {name: value for name, value in packed.items() if not name.endswith(SCALE)}
    unchanged = {name for name in weights if name.startswith(_ENCODER)} - changes.keys()
    require_names(file, changes, weights.keys() - unchanged - ties.keys())
    matrices = {name + SCALE for name, value in changes.items() if value.dim() > 1}
    require_names(file, {name: v for name, v in packed.items() if name.endswith(SCALE)}, matrices)
    for name in changes:
        change = _unpacked(file, name, packed)
        require_fit(file, name, change, weights[name])
        if name.startswith(_ENCODER):
            weights[name] += change.to(weights[name].dtype)
        else:
            weights[name].copy_(change)
    tie(model, ties, file)


def save_whole(model: Any, directory: Path) -> None:
    """Write config.json, all weights in 8 bits, and the encoder's configuration and tokenizer."""
    if model.encoder is None:
        raise ModelError("model-without-encoder")
    weights, ties = distinct_weights(cast(nn.Module, model))
    packed: Weights = {}
    for name, value in weights.items():
        packed |= _packed(name, value, BLOCK) if value.is_floating_point() else {name: value}
    with writing(directory):
        write_config(directory, config_of(model))
        model.encoder.save(directory / ENCODER)
        write_weights(directory / PACKED, packed, ties)
        (directory / CHANGES).unlink(missing_ok=True)


def load_whole(model: nn.Module, path: Path) -> None:
    """Give a model, whose encoder has learned nothing yet, the weights that were packed."""
    file = path / PACKED
    packed, ties = read_weights(file)
    weights = model.state_dict()
    kept = {name: value for name, value in packed.items() if not name.endswith(SCALE)}
    require_names(file, kept, weights.keys() - ties.keys())
    matrices = {name + SCALE for name in kept if _is_matrix(weights[name])}
    require_names(file, {name: v for name, v in packed.items() if name.endswith(SCALE)}, matrices)
    for name, value in kept.items():
        whole = _unpacked(file, name, packed) if _is_matrix(weights[name]) else value
        require_fit(file, name, whole, weights[name])
        weights[name].copy_(whole)
    tie(model, ties, file)


def _is_matrix(value: Tensor) -> bool:
    return value.is_floating_point() and value.dim() > 1


def _packed(name: str, value: Tensor, block: int | None = None) -> Weights:
    """With a scale a row, or a scale a block of each row, where blocks fill the rows."""
    if value.dim() < 2:
        return {name: value}
    rows = value.flatten(1)  # (rows, columns)
    blocks = rows.shape[1] // block if block and rows.shape[1] % block == 0 else 1
    parts = rows.unflatten(1, (blocks, -1))  # (rows, blocks, numbers)
    scale = parts.abs().amax(2, keepdim=True) / _STEPS
    steps = (parts / scale.clamp(min=torch.finfo(scale.dtype).tiny)).round().to(torch.int8)
    scales = scale.squeeze(2) if blocks > 1 else scale.flatten()
    return {name: steps.reshape(value.shape), name + SCALE: scales}


def _unpacked(file: Path, name: str, packed: Weights) -> Tensor:
    own = {key: packed[key].numpy() for key in (name, name + SCALE) if key in packed}
    return torch.from_numpy(unpacked(file, name, own))


def _require_same_shape(started: Tensor | None, value: Tensor, name: str, base: str) -> None:
    if started is None or started.shape != value.shape:
        raise ModelError("other-base", Place(part=name), base=base)


def _fingerprint(weights: Weights) -> str:
    return fingerprint({name: value.numpy() for name, value in weights.items()})
