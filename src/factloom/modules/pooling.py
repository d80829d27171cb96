"""Pooling of rows that belong together, without a loop: mentions into entities."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def segment_mean(values: "Tensor", segment: "Tensor", count: int) -> "Tensor":
    """The mean of the rows of each segment: (rows, ...), (rows,) -> (count, ...)."""
    total = values.new_zeros(count, *values.shape[1:]).index_add(0, segment, values)
    size = segment.new_zeros(count).index_add(0, segment, segment.new_ones(segment.shape))
    size = size.clamp(min=1).to(values.dtype)  # (count,)
    return total / size.view(-1, *[1] * (values.dim() - 1))


def segment_logsumexp(values: "Tensor", segment: "Tensor", count: int) -> "Tensor":
    """Log sum exp over the rows of each segment: (rows, width), (rows,) -> (count, width).

    A smooth maximum: one clear mention is enough (Jia et al., NAACL 2019). Stable, because each
    segment's maximum is taken out first; every segment needs a row.
    """
    index = segment[:, None].expand_as(values)  # (rows, width)
    highest = values.detach().new_full((count, values.shape[1]), -math.inf)
    highest = highest.scatter_reduce(0, index, values.detach(), "amax")
    total = values.new_zeros(count, values.shape[1])
    total = total.index_add(0, segment, (values - highest[segment]).exp())
    return total.log() + highest
