"""Files of weights as every runtime reads them; nothing here imports torch.

Matrices of compressed models (models/compressed.py) are whole numbers with a scale a row, or a
scale a block of a row.
"""

import hashlib
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from safetensors import SafetensorError, safe_open

from factloom.errors import ModelError, Place

WEIGHTS, ENCODER = "model.safetensors", "encoder"
CHANGES = "changes.safetensors"
PACKED = "packed.safetensors"  # all weights of a model in 8 bits
TIED = "tied"
SCALE = ":scale"  # behind the name of a matrix

Arrays = dict[str, NDArray[Any]]
Ties = dict[str, str]  # a further name of a tensor: the name that it is kept under


def read_file(file: Path, framework: Literal["pt", "np"]) -> tuple[dict[str, Any], Ties]:
    """All tensors of a file, of torch or of numpy."""
    if not file.exists():
        raise ModelError("model-not-found", Place(file=str(file.parent)), file=file.name)
    try:
        with safe_open(file, framework=framework) as opened:
            tied = (opened.metadata() or {}).get(TIED, "{}")
            weights = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        return weights, TypeAdapter(Ties).validate_json(tied)
    except (OSError, SafetensorError, ValueError) as error:
        detail = str(error).splitlines()[-1].strip()
        raise ModelError("model-damaged", Place(file=str(file)), detail=detail) from error


def read_arrays(file: Path) -> tuple[Arrays, Ties]:
    """All arrays of a file, which are finite."""
    arrays, ties = read_file(file, "np")
    for name, value in arrays.items():
        if np.issubdtype(value.dtype, np.floating) and not np.isfinite(value).all():
            damaged(file, name, "it holds nan or infinity")
    return arrays, ties


def unpacked(file: Path, name: str, packed: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """A matrix as its whole numbers times the scales of rows or their blocks; all else as it is."""
    value = packed[name]
    if value.ndim < 2:
        return value
    scale = packed[name + SCALE]
    if value.dtype != np.int8:
        damaged(file, name, f"it holds {value.dtype}, and should hold int8")
    rows, blocks = len(value), scale.shape[1] if scale.ndim == 2 else 1
    parts = max(1, rows * blocks)
    fits = scale.ndim <= 2 and scale.shape[:1] == (rows,) and blocks and value.size % parts == 0
    if not np.issubdtype(scale.dtype, np.floating) or not fits:
        damaged(file, name + SCALE, f"it is no row of {rows} scales, or of scales of blocks")
    blocked = value.reshape(rows, blocks, value.size // parts)
    whole: NDArray[Any] = blocked * scale.reshape(rows, blocks, 1)
    return whole.reshape(value.shape)


def fingerprint(weights: Mapping[str, NDArray[Any]]) -> str:
    """The SHA-256 of an encoder's weights."""
    digest = hashlib.sha256()
    for name, value in sorted(weights.items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(value).data)
    return digest.hexdigest()


def require_names(file: Path, given: Mapping[str, Any], expected: AbstractSet[str]) -> None:
    wrong = given.keys() ^ expected
    if wrong:
        lacks = min(wrong) in expected
        damaged(file, min(wrong), "it is missing" if lacks else "the model has no such weights")


def damaged(file: Path, name: str, detail: str) -> NoReturn:
    raise ModelError("model-damaged", Place(file=str(file), part=name), detail=detail)
