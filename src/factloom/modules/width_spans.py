"""A score for every span of words up to some width, from the states of its first and last token.

Guu et al.: REALM, ICML 2020, arXiv 2002.08909; Lee, Chang, Toutanova: Latent Retrieval for Weakly
Supervised Open Domain Question Answering, ACL 2019, arXiv 1906.00300. With h of the words' tokens:

    score(s) = MLP([h_start; h_end]) = v GELU(W_a h_start + W_b h_end + b)

Both products are made once a word; a span costs one addition and one small product.
"""

import torch
from torch import Tensor, nn


class WidthSpans(nn.Module):
    """Scores of spans of 1 to `widest` words."""

    def __init__(self, inputs: int, hidden: int, widest: int) -> None:
        super().__init__()
        self.widest = widest
        self.first_part = nn.Linear(inputs, hidden)
        self.last_part = nn.Linear(inputs, hidden, bias=False)  # the bias is in the other part
        # a bias would be the same for all spans, and change no softmax
        self.score = nn.Linear(hidden, 1, bias=False)

    def forward(self, first: Tensor, last: Tensor, inside: Tensor) -> Tensor:
        """(texts, words, widest) of spans by first word and width - 1; -inf where none is.

        first, last (texts, words, inputs): states of each word's first and last token; inside,
        bool (texts, words): false for padding.
        """
        starts, ends = self.first_part(first), self.last_part(last)  # (texts, words, hidden)
        words = starts.shape[1]
        found: Tensor = starts.new_full((*inside.shape, self.widest), -torch.inf)
        for width in range(min(self.widest, words)):
            joined = nn.functional.gelu(starts[:, : words - width] + ends[:, width:])
            there = inside[:, : words - width] & inside[:, width:]
            scores = self.score(joined).squeeze(-1).masked_fill(~there, -torch.inf)
            found[:, : words - width, width] = scores
        return found
