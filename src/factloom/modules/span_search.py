"""The best spans where a span is worth what its start and its end are worth."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor


def best_spans(
    starts: Tensor, ends: Tensor, longest: int, top: int
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The best `top` spans of each row: score, first and last word, (rows,) each.

    Those of a row do not overlap. The score of a span is that of its start and its end, (rows,
    words) each, with first <= last < first + longest. A row that has no more spans gives -inf.
    """
    longest = min(longest, starts.shape[1])
    later = F.pad(ends, (0, longest - 1), value=-torch.inf).unfold(1, longest, 1)
    scores = starts[..., None] + later  # (rows, words, longest)
    first = torch.arange(starts.shape[1], device=starts.device)[:, None]  # (words, 1)
    last = first + torch.arange(longest, device=starts.device)  # (words, longest)
    for _ in range(top):
        values, places = scores.flatten(1).max(1)
        begin = places // longest
        end = begin + places % longest
        yield values, begin, end
        overlaps = (first <= end[:, None, None]) & (last >= begin[:, None, None])
        scores = scores.masked_fill(overlaps, -torch.inf)
