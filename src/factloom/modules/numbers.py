"""From tensors to numbers: the way back over the border between networks and decisions."""

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor


def numbers_of(values: Tensor) -> NDArray[Any]:
    """An array of them; what is less than single precision becomes that."""
    kept = values.detach().cpu()
    if kept.is_floating_point():
        kept = kept.to(torch.promote_types(kept.dtype, torch.float32))
    return kept.numpy()
