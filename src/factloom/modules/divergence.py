"""Kullback-Leibler divergences between what two sets of logits predict.

    KL(p || q) = sum over outcomes of p log(p / q)

Each is 0 where the predictions are the same, and above 0 elsewhere.
"""

import torch.nn.functional as F
from torch import Tensor


def softmax_divergence(reference: Tensor, logits: Tensor) -> Tensor:
    """Exactly one class holds: p and q are softmax over the classes. (..., classes) -> (...)."""
    expected, found = reference.log_softmax(-1), logits.log_softmax(-1)
    return (expected.exp() * (expected - found)).sum(-1)


def sigmoid_divergence(reference: Tensor, logits: Tensor) -> Tensor:
    """Each class holds or not, on its own: summed over the classes. (..., classes) -> (...)."""
    holds = F.logsigmoid(reference) - F.logsigmoid(logits)
    fails = F.logsigmoid(-reference) - F.logsigmoid(-logits)
    probability = reference.sigmoid()
    return (probability * holds + (1 - probability) * fails).sum(-1)
