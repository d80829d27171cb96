"""A model as what training changed: a small file beside a pretrained encoder that everybody has.

The encoder's weights W are those of the base encoder plus a change D; the other weights start from
nothing. Matrices are kept as whole numbers of 8 bits, with a scale a row:

    D_row = s_row q_row,   s_row = max |D_row| / 127,   q in -127 ... 127

so no weight is off by more than half a step, s_row / 2: of the change, not of the weight. Vectors
(biases, norms) are kept as they are, and what training left alone is not kept at all.
"""

import tempfile
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError, Place
from factloom.models.storage import CHANGES, load_config, write_config

SCALE = ":scale"  # behind the name of a matrix
_ENCODER = "encoder."
_STEPS = 127


def save_compressed(model: Any, directory: Path, base: str) -> None:
    """Write config.json and the changes; `base` names the encoder that training began with."""
    started = Encoder.load(base).state_dict()
    kept: dict[str, Tensor] = {}
    for name, value in cast(nn.Module, model).state_dict().items():
        part = name.removeprefix(_ENCODER)
        if name.startswith(_ENCODER):
            _require_same_shape(started.get(part), value, name, base)
            value = value - started[part]
            if not value.any():
                continue
        kept |= _packed(name, value)
    with tempfile.TemporaryDirectory() as whole:  # every model writes its configuration itself
        model.save_pretrained(whole)
        _, config = load_config(whole)
    directory.mkdir(parents=True, exist_ok=True)
    write_config(directory, {**config, "base": base})
    save_file(kept, directory / CHANGES, metadata={"format": "pt"})


def load_changes(model: nn.Module, path: Path) -> None:
    """Bring a model, whose encoder is the base, to the weights that were compressed."""
    try:
        kept = load_file(path / CHANGES)
    except (OSError, SafetensorError) as error:
        place = Place(file=str(path / CHANGES))
        raise ModelError("model-damaged", place, detail=str(error).splitlines()[-1]) from error
    weights = model.state_dict()
    changed = {name for name in kept if not name.endswith(SCALE)}
    own = {name for name in weights if not name.startswith(_ENCODER)}
    if own - changed or changed - weights.keys():
        wrong = min((own - changed) | (changed - weights.keys()))
        detail = f"its weights do not fit its configuration, such as {wrong}"
        raise ModelError("model-damaged", Place(file=str(path / CHANGES)), detail=detail)
    for name in changed:
        change = _unpacked(name, kept).to(weights[name].dtype)
        if name.startswith(_ENCODER):
            weights[name] += change
        else:
            weights[name].copy_(change)


def _packed(name: str, value: Tensor) -> dict[str, Tensor]:
    if value.dim() < 2:
        return {name: value.contiguous()}
    rows = value.flatten(1)  # (rows, columns)
    scale = rows.abs().amax(1, keepdim=True) / _STEPS
    steps = (rows / scale.clamp(min=torch.finfo(scale.dtype).tiny)).round().to(torch.int8)
    return {name: steps.view(value.shape).contiguous(), name + SCALE: scale.squeeze(1)}


def _unpacked(name: str, kept: dict[str, Tensor]) -> Tensor:
    value = kept[name]
    if value.dim() < 2:
        return value
    scale = kept[name + SCALE].view(-1, *[1] * (value.dim() - 1))
    return value.to(scale.dtype) * scale


def _require_same_shape(started: Tensor | None, value: Tensor, name: str, base: str) -> None:
    if started is None or started.shape != value.shape:
        raise ModelError("other-base", Place(part=name), base=base)
