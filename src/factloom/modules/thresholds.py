"""Which relations of a pair hold: two rules with one interface.

A rule has `extra_classes`, a loss for training, `margins`, which are above 0 for the relations
that hold, and `divergence`, how far what logits say is from what others say.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from factloom.modules.divergence import in_full, sigmoid_divergence, softmax_divergence


class AdaptiveThreshold(nn.Module):
    """A threshold class of its own for every pair: ATLOP (Zhou et al., AAAI 2021), equations 6-8.

    With the positive relations P, the negative ones N and the threshold class TH:

        L1 = - sum_{r in P} log( exp(l_r) / sum_{r' in P + TH} exp(l_r') )
        L2 = - log( exp(l_TH) / sum_{r' in N + TH} exp(l_r') )

    L1 pushes the positives above TH, L2 the negatives below. The loss is the mean of L1 + L2
    over the pairs. Column 0 of the logits is TH. Relations of which nothing is known are neither.
    """

    extra_classes = 1

    def loss(self, logits: Tensor, labels: Tensor, unknown: Tensor | None = None) -> Tensor:
        """(pairs, 1 + relations), bool (pairs, relations) twice -> (pairs,)."""
        logits = in_full(logits)
        threshold, relations = logits[:, :1], logits[:, 1:]
        positive = relations.masked_fill(~labels, -torch.inf)  # (pairs, relations)
        negative = relations.masked_fill(
            labels if unknown is None else labels | unknown, -torch.inf
        )
        above = torch.cat([threshold, positive], 1).logsumexp(1)  # (pairs,)
        below = torch.cat([threshold, negative], 1).logsumexp(1)
        first = labels.sum(1) * above - (relations * labels).sum(1)
        return first + below - threshold.squeeze(1)

    def margins(self, logits: Tensor) -> Tensor:
        """(pairs, 1 + relations) -> (pairs, relations)."""
        return logits[:, 1:] - logits[:, :1]

    def divergence(self, reference: Tensor, logits: Tensor) -> Tensor:
        """KL(reference || logits), both as softmax over TH and the relations.

        (pairs, 1 + relations) twice -> (pairs,)
        """
        return softmax_divergence(reference, logits)


class GlobalThreshold(nn.Module):
    """Binary cross-entropy, and one threshold for all relations, set where dev F1 is best."""

    extra_classes = 0
    threshold: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("threshold", torch.zeros(()))

    def loss(self, logits: Tensor, labels: Tensor, unknown: Tensor | None = None) -> Tensor:
        """(pairs, relations), bool (pairs, relations) twice -> (pairs,), summed over relations."""
        losses = F.binary_cross_entropy_with_logits(
            logits, labels.to(logits.dtype), reduction="none"
        )
        return (losses if unknown is None else losses.masked_fill(unknown, 0.0)).sum(1)

    def margins(self, logits: Tensor) -> Tensor:
        return logits - self.threshold

    def divergence(self, reference: Tensor, logits: Tensor) -> Tensor:
        """KL(reference || logits) of the relations' own yes and no, summed over the relations.

        (pairs, relations) twice -> (pairs,)
        """
        return sigmoid_divergence(reference, logits)

    @torch.no_grad()
    def fit(self, logits: Tensor, labels: Tensor, gold: int) -> None:
        """Put the threshold where F1 is highest; `gold` counts relations the pairs may lack."""
        possible = logits.isfinite()  # forbidden relations have minus infinity
        scores, order = logits[possible].sort(descending=True)
        if not len(scores):
            return
        correct = labels[possible][order].cumsum(0)
        predicted = torch.arange(1, len(scores) + 1, device=scores.device)
        following = torch.cat([scores[1:], scores[-1:] - 1])  # all may hold: below the last
        f1 = 2 * correct / (predicted + gold)
        best = f1.masked_fill(scores == following, -1).argmax()  # nothing parts equal scores
        self.threshold.copy_((scores[best] + following[best]) / 2)


def symmetric_divergence(
    rule: AdaptiveThreshold | GlobalThreshold, first: Tensor, second: Tensor
) -> Tensor:
    """The mean of both directions: (pairs, classes) twice -> (pairs,)."""
    return (rule.divergence(first, second) + rule.divergence(second, first)) / 2
