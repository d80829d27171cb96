"""How a batch goes to a device: with all of its parts that can.

A batch is laid out in numpy, `WordBatch[Numbers]`, and read by networks as tensors, `WordBatch`,
which is `WordBatch[Tensor]`: `.to(device)` is the border. torch is imported where it is crossed.
"""

import dataclasses
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeVar

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Numbers = NDArray[Any]
Array = TypeVar("Array", default="Tensor")
BatchT = TypeVar("BatchT")


def torch_is_installed() -> bool:
    """Without importing it."""
    return find_spec("torch") is not None


def moved(batch: BatchT, device: "torch.device | str") -> BatchT:
    """A copy of the dataclass: its arrays, and those of batches within it, are tensors there."""
    whole = cast(Any, batch)
    parts = {part.name: getattr(whole, part.name) for part in dataclasses.fields(whole)}
    there = {name: _moved(part, device) for name, part in parts.items() if _can_move(part)}
    return cast(BatchT, dataclasses.replace(whole, **there))


def _can_move(part: object) -> bool:
    return isinstance(part, np.ndarray) or hasattr(part, "to")


def _moved(part: Any, device: "torch.device | str") -> Any:
    if not isinstance(part, np.ndarray):
        return part.to(device)
    import torch

    return torch.from_numpy(np.ascontiguousarray(part)).to(device)
