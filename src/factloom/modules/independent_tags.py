"""Tags that do not look at each other: softmax a word, with the methods of the random field.

    p(y) = product over words of softmax(e_t)[y_t]

What modules/crf.py does with transitions this does without: a sequence that no scheme allows may
come out, and is then read as conlleval does.
"""

import torch
from torch import Tensor, nn

from factloom.modules.crf import PathProbabilities
from factloom.modules.independent_scores import IndependentScores
from factloom.text.tags import UNKNOWN


class IndependentTags(nn.Module):
    """Emissions are (batch, length, tags) and lengths (batch,) everywhere."""

    def log_likelihood(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """(batch,) log p of the paths `tags` (batch, length); `UNKNOWN` stands for any tag."""
        known = _inside(emissions, lengths) & (tags != UNKNOWN)
        index = tags.masked_fill(~known, 0)[..., None]
        chosen = emissions.log_softmax(2).gather(2, index)[..., 0]  # (batch, length)
        return chosen.masked_fill(~known, 0).sum(1)

    @torch.no_grad()
    def decode(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """(batch, length) the most probable tags, 0 behind the end."""
        return emissions.argmax(2).masked_fill(~_inside(emissions, lengths), 0)

    @torch.no_grad()
    def marginals(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """(batch, length, tags) p(y_t = tag), 0 behind the end."""
        return emissions.softmax(2).masked_fill(~_inside(emissions, lengths)[..., None], 0)

    @torch.no_grad()
    def path_probabilities(
        self, emissions: Tensor, paths: Tensor, lengths: Tensor
    ) -> PathProbabilities:
        """How probable the tags of the paths (batch, length) are; none knows of another."""
        chosen = emissions.softmax(2).gather(2, paths[..., None])[..., 0]  # (batch, length)
        chosen = chosen.masked_fill(~_inside(emissions, lengths), 1)
        return PathProbabilities(chosen, chosen)

    def scores(self) -> IndependentScores:
        """What decides without torch."""
        return IndependentScores()


def _inside(emissions: Tensor, lengths: Tensor) -> Tensor:
    """bool (batch, length), False behind the end"""
    return torch.arange(emissions.shape[1], device=lengths.device) < lengths[:, None]
