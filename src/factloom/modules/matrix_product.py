"""Products of large matrices of float32, where no gradient is followed.

torch has them computed by MKL, which uses half of the width of AMD's vector units, as measured in
docs/results.md; oneDNN, which torch brings too, uses all of it. Numbers differ by rounding alone.
"""

import torch
from torch import Tensor


def product(left: Tensor, right: Tensor) -> Tensor:
    """left right^T: (rows, inputs), (columns, inputs) -> (rows, columns)."""
    if _by_onednn(left, right):
        found: Tensor = torch.ops.mkldnn._linear_pointwise(left, right, None, "none", [], "")
        return found
    return left @ right.t()


def _by_onednn(left: Tensor, right: Tensor) -> bool:
    return (
        left.device.type == "cpu"
        and left.dtype == right.dtype == torch.float32
        and min(*left.shape, *right.shape) > 0
        and torch.backends.mkldnn.is_available()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")  # no part of what torch promises
    )
