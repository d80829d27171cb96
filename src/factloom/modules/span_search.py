"""The best spans where a span is worth what its start and its end are worth."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor


def best_spans(
    starts: Tensor, ends: Tensor, longest: int, top: int, reach: Tensor | None = None
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The best `top` spans of each row: score, first and last word, (rows,) each.

    Those of a row do not overlap. The score of a span is that of its start and its end, (rows,
    words) each, with first <= last < first + longest and, where that is given, last < reach[first],
    (rows, words). A row that has no more spans gives -inf.
    """
    longest = min(longest, starts.shape[1])
    later = F.pad(ends, (0, longest - 1), value=-torch.inf).unfold(1, longest, 1)
    scores = starts[..., None] + later  # (rows, words, longest)
    first = torch.arange(starts.shape[1], device=starts.device)[:, None]  # (words, 1)
    last = first + torch.arange(longest, device=starts.device)  # (words, longest)
    if reach is not None:
        scores = scores.masked_fill(last >= reach[..., None], -torch.inf)
    for _ in range(top):
        values, places = scores.flatten(1).max(1)
        begin = places // longest
        end = begin + places % longest
        yield values, begin, end
        overlaps = (first <= end[:, None, None]) & (last >= begin[:, None, None])
        scores = scores.masked_fill(overlaps, -torch.inf)


def pointed_spans(
    starts: Tensor, ends: Tensor, none: Tensor, reach: Tensor, longest: int, top: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The best `top` starts of each row that are better than "none", each with its best end.

    starts, ends and reach are (rows, words) as above, `none` (rows,) is what the start of nothing
    is worth. Gives first and last word, and whether the start is better than none: (rows, top)
    each.
    """
    count, longest = min(top, starts.shape[1]), min(longest, starts.shape[1])
    values, first = starts.topk(count)  # (rows, count)
    later = F.pad(ends, (0, longest - 1), value=-torch.inf).unfold(1, longest, 1)
    index = first[..., None].expand(-1, -1, longest)
    last = first[..., None] + torch.arange(longest, device=starts.device)  # (rows, count, longest)
    scores = later.gather(1, index).masked_fill(
        last >= reach.gather(1, first)[..., None], -torch.inf
    )
    return first, first + scores.argmax(-1), values > none[:, None]
