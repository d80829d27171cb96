"""Checkpoints that survive a kill at any moment, without pickle.

A checkpoint is a directory `checkpoints/step-00000120`: `model.safetensors` (weights by name),
`training.safetensors` (every other tensor), `training.json` (everything else) and SHA256SUMS, by
which a byte that the disk has changed is noticed (`sha256sum --check` reads it, too). It is written
under another name, flushed to the disk and then renamed, so that a directory of that name is
always whole; older ones are removed afterwards.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from factloom.errors import InputError, Place

VERSION = 2
CHECKPOINTS = "checkpoints"  # the folder of a training that holds them
SUMS = "SHA256SUMS"
TENSOR_KEY = "__tensor__"  # stands in the JSON for a tensor: its name in training.safetensors


def write_directory(target: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a directory; `target` is the old one or the whole new one, at any moment.

    Where `target` exists there is an instant in which it is set aside: `recover_directory`.
    """
    fresh, old = _aside(target, "new"), _aside(target, "old")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    write(fresh)
    for file in [*fresh.rglob("*"), fresh]:
        _flush(file)
    if target.exists():
        shutil.rmtree(old, ignore_errors=True)
        target.rename(old)
    fresh.rename(target)
    _flush(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def recover_directory(target: Path) -> None:
    """Put back what a killed `write_directory` had set aside, and remove what it left."""
    fresh, old = _aside(target, "new"), _aside(target, "old")
    if old.exists() and not target.exists():
        old.rename(target)
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)


def write_file(target: Path, content: str) -> None:
    """Replace a file as a whole."""
    fresh = _aside(target, "new")
    fresh.write_text(content, encoding="utf-8")
    _flush(fresh)
    fresh.replace(target)


def save_checkpoint(
    folder: Path, step: int, model: Mapping[str, Tensor], state: Mapping[str, Any], keep: int
) -> None:
    """Write the checkpoint of `step` and remove all but the `keep` last ones."""
    tensors: dict[str, Tensor] = {}
    plain = _without_tensors(dict(state), "", tensors)

    def write(directory: Path) -> None:
        save_file(_storable(model), directory / "model.safetensors")
        save_file(_storable(tensors), directory / "training.safetensors")
        content = json.dumps({"version": VERSION, **plain})
        (directory / "training.json").write_text(content, encoding="utf-8")
        (directory / SUMS).write_text(_sums(directory), encoding="utf-8")

    write_directory(folder / f"step-{step:08d}", write)
    for outdated in checkpoints(folder)[:-keep]:
        # Under its own name a checkpoint is whole, even while it is being removed.
        shutil.rmtree(outdated.rename(_aside(outdated, "old")))


def checkpoints(folder: Path) -> list[Path]:
    """The whole checkpoints, oldest first; whatever else lies there is nobody's business."""
    found = [path for path in folder.glob("step-*") if re.fullmatch(r"step-\d{8,}", path.name)]
    return sorted(found, key=lambda path: int(path.name.removeprefix("step-")))


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed `save_checkpoint` left half written or half removed."""
    for leftover in folder.glob("step-*.*"):
        if re.fullmatch(r"step-\d{8,}\.(new|old)", leftover.name):
            shutil.rmtree(leftover)


def load_checkpoint(directory: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The model's weights and the rest of the state."""
    try:
        plain = json.loads((directory / "training.json").read_text(encoding="utf-8"))
        if plain.pop("version") != VERSION:
            raise InputError("checkpoint-version", Place(file=str(directory)), version=VERSION)
        if (directory / SUMS).read_text(encoding="utf-8") != _sums(directory):
            raise ValueError(f"its files are not those that {SUMS} was made of")
        tensors = load_file(directory / "training.safetensors")
        model = load_file(directory / "model.safetensors")
        return model, _with_tensors(plain, tensors)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise InputError("broken-checkpoint", Place(file=str(directory)), detail=error) from error


def _sums(directory: Path) -> str:
    """The SHA-256 of each file."""
    lines = []
    for path in sorted(directory.iterdir()):
        if path.name != SUMS:
            with path.open("rb") as file:
                lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    return "".join(lines)


def _without_tensors(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    """The value with every tensor moved to `tensors`, under a number and its path.

    Keys that end in TENSOR_KEY get a sign in front, so that none is taken for a tensor's.
    """
    if isinstance(value, Tensor):
        name = f"{len(tensors)} {path}"  # paths alone may be equal: keys may hold a slash
        tensors[name] = value
        return {TENSOR_KEY: name}
    if isinstance(value, Mapping):
        return {
            f"_{key}" if str(key).endswith(TENSOR_KEY) else key: _without_tensors(
                item, f"{path}/{key}", tensors
            )
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_without_tensors(item, f"{path}/{i}", tensors) for i, item in enumerate(value)]
    return value


def _with_tensors(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    if isinstance(value, dict):
        if TENSOR_KEY in value:
            return tensors[value[TENSOR_KEY]]
        return {
            key[1:] if key.endswith(TENSOR_KEY) else key: _with_tensors(item, tensors)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_with_tensors(item, tensors) for item in value]
    return value


def _storable(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Plain tensors, none of which shares its memory with another (tied weights do)."""
    result: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in tensors.items():
        plain = tensor.detach().to(torch.device("cpu")).contiguous()
        address = plain.untyped_storage().data_ptr()
        result[name] = plain.clone() if address in seen else plain
        seen.add(address)
    return result


def _aside(target: Path, suffix: str) -> Path:
    return target.with_name(f"{target.name}.{suffix}")


def _flush(path: Path) -> None:
    """Wait until a file's content, or a directory's list of names, is on the disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no directories, and renames durably by itself
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
