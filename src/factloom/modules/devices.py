"""How a batch goes to a device: with all of its parts that can."""

import dataclasses
from typing import Any, TypeVar, cast

import torch

BatchT = TypeVar("BatchT")


def moved(batch: BatchT, device: torch.device | str) -> BatchT:
    """A copy of the dataclass whose tensors, and the batches within it, are on the device."""
    whole = cast(Any, batch)
    parts = {part.name: getattr(whole, part.name) for part in dataclasses.fields(whole)}
    there = {name: part.to(device) for name, part in parts.items() if hasattr(part, "to")}
    return cast(BatchT, dataclasses.replace(whole, **there))
