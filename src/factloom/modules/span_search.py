"""The best ends of the best starts, where a network points to both."""

import torch
import torch.nn.functional as F
from torch import Tensor


def pointed_spans(
    starts: Tensor, ends: Tensor, none: Tensor, reach: Tensor, longest: int, top: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The best `top` starts of each row that are better than "none", each with its best end.

    starts, ends and reach are (rows, words) as in best_spans.py, `none` (rows,) is what the start
    of nothing is worth. Gives first and last word, and whether the start is better than none:
    (rows, top) each.
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
