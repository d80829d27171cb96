"""Kullback-Leibler divergences between what two sets of logits predict.

    KL(p || q) = sum over outcomes of p log(p / q)

Each is 0 where the predictions are the same, and above 0 elsewhere. Half precision is too coarse
for the small difference of large numbers: such logits are compared in float32.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def softmax_divergence(reference: Tensor, logits: Tensor) -> Tensor:
    """Exactly one class holds: p and q are softmax over the classes. (..., classes) -> (...)."""
    expected, found = in_full(reference).log_softmax(-1), in_full(logits).log_softmax(-1)
    return (expected.exp() * (expected - found)).sum(-1)


def sigmoid_divergence(reference: Tensor, logits: Tensor) -> Tensor:
    """Each class holds or not, on its own: summed over the classes. (..., classes) -> (...)."""
    reference, logits = in_full(reference), in_full(logits)
    holds = F.logsigmoid(reference) - F.logsigmoid(logits)
    fails = F.logsigmoid(-reference) - F.logsigmoid(-logits)
    probability = reference.sigmoid()
    return (probability * holds + (1 - probability) * fails).sum(-1)


def in_full(logits: Tensor) -> Tensor:
    """In float32 at least."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
