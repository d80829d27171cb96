"""What a text is as likely as, where the passage that it rests on is not known.

Guu, Lee, Tung, Pasupat, Chang: REALM, ICML 2020, arXiv 2002.08909; Lewis et al.: RAG, NeurIPS 2020,
arXiv 2005.11401. With passages z and the tokens y_1 .. y_n of the text:

    whole     p(y|x) = sum_z p(z|x) prod_i p(y_i | z, x, y_<i)      REALM's notes, RAG-Sequence
    by token  p(y|x) = prod_i sum_z p(z|x) p(y_i | z, x, y_<i)      REALM's authors, RAG-Token

One passage has to explain the whole text in the first; each token may have its own in the second.
A text of one token is equally likely in both.
"""

from typing import Literal

import torch
from torch import Tensor

Marginal = Literal["whole", "token"]


def log_marginal(tokens: Tensor, passages: Tensor, way: Marginal) -> Tensor:
    """(texts,) log p(y|x)

    tokens (texts, passages, tokens): log p(y_i | z, x, y_<i), 0 for padding; passages (texts,
    passages): log p(z|x), -inf for those that do not take part.
    """
    if way == "whole":
        return (passages + tokens.sum(-1)).logsumexp(1)
    # padding has the log probability 0 in every passage, and these sum to 1: again 0
    return (passages[:, :, None] + tokens).logsumexp(1).sum(-1)


def next_marginal(tokens: Tensor, passages: Tensor) -> Tensor:
    """(beams, tokens) log p(y_i | x, y_<i) of every token that may come next, by token

    tokens (beams, passages, tokens), passages (passages,): log p(z|x).
    """
    return torch.logsumexp(passages[None, :, None] + tokens, dim=1)
