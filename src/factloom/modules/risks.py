"""What a binary classifier may minimise when only some positives are labelled.

Du Plessis, Niu, Sugiyama: Convex Formulation for Learning from Positive and Unlabeled Data, ICML
2015 (uPU). Kiryo, Niu, Du Plessis, Sugiyama: Positive-Unlabeled Learning with Non-Negative Risk
Estimator, NeurIPS 2017, arXiv 1703.00593 (nnPU). Peng, Xing, Zhang, Fu, Huang: Distantly Supervised
Named Entity Recognition using Positive-Unlabeled Learning, ACL 2019, arXiv 1906.01378 (bnPU).
Mordelet, Vert: A bagging SVM to learn from positive and unlabeled examples, 2014 (PU bagging).

A word x has a score g(x) and costs l+ = l(g(x), +1) if it is a positive, l- = l(g(x), -1) if not.
With the prior pi = p(y = +1), the supervised risk is

    R = pi R_p+ + (1 - pi) R_n-        R_p+ = E[l+ | y = +1],   R_n- = E[l- | y = -1]

and since all words are a mixture of both, (1 - pi) R_n- = R_u- - pi R_p-, with R_u- = E[l-] over
all words and R_p- = E[l- | y = +1]. The expectations over positives are estimated by the labelled
words, which are taken for a fair sample of the positives. If the part rho of all words is
labelled, their mean is (1/n) sum of l(x)/rho over the labelled ones: with rho counted once over
the whole training set, the risk of a batch is a mean over its words, and the risks of batches add
up. Every function returns the risk of each type: (types,).
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from factloom.modules.divergence import in_full


@dataclass(frozen=True, slots=True)
class Losses:
    """What each word costs, for each type: if it is a positive, and if it is not."""

    positive: Tensor  # (words, types)
    negative: Tensor  # (words, types)


def word_losses(scores: Tensor, exponent: float) -> Losses:
    """The generalised cross-entropy, with p = sigmoid(g):

        l+ = (1 - p^q) / q,   l- = (1 - (1 - p)^q) / q

    Zhang, Sabuncu: Generalized Cross Entropy Loss for Training Deep Neural Networks with Noisy
    Labels, NeurIPS 2018, arXiv 1805.07836. The exponent q = 1 gives the absolute error of Peng et
    al.: l+ = 1 - p, l- = p, so that R_p- = 1 - R_p+. q = 0 stands for the limit, the cross-entropy
    l+ = -log p, l- = -log(1 - p), which has no bound. The others are bounded by 1 / q, so that a
    wrong label pulls with a bounded force; and the smaller q is, the harder a labelled word pulls
    that has gone far to the wrong side, where the absolute error is flat and has given it up.
    """
    scores = in_full(scores)
    positive, negative = functional.logsigmoid(scores), functional.logsigmoid(-scores)
    if exponent == 0:
        return Losses(-positive, -negative)
    return Losses(
        -torch.expm1(exponent * positive) / exponent, -torch.expm1(exponent * negative) / exponent
    )


def unlabelled_as_negative(losses: Losses, labelled: Tensor) -> Tensor:
    """R = (1/n) sum of l+ over labelled words, l- over all others.

    Biased: it costs to find a name that the dictionary lacks.
    """
    return torch.where(labelled, losses.positive, losses.negative).mean(0)


def labelled_negatives(
    losses: Losses,
    labelled: Tensor,
    negative: Tensor,
    share: Tensor,
    negative_share: Tensor,
    prior: Tensor,
) -> Tensor:
    """R = pi R_p+ + (1 - pi) R_n-, the latter by words that somebody knows to be negatives.

    `negative` (words,) marks them, `negative_share` is their part of all words. Words that are
    neither labelled nor known do not count.
    """
    positives = _mean_over(labelled, losses.positive, share)
    negatives = _mean_over(negative[:, None], losses.negative, negative_share)
    return prior * positives + (1 - prior) * negatives


def unbiased(losses: Losses, labelled: Tensor, share: Tensor, prior: Tensor) -> Tensor:
    """uPU: R = pi R_p+ + R_u- - pi R_p-, the supervised risk in expectation.

    With a flexible model and an unbounded loss, R_u- - pi R_p- falls below 0 and goes on falling:
    the labelled words are learned by heart.
    """
    positive = prior * _mean_over(labelled, losses.positive, share)
    return positive + _negative_risk(losses, labelled, share, prior)


def non_negative(
    losses: Losses,
    labelled: Tensor,
    share: Tensor,
    prior: Tensor,
    weight: Tensor,
    tolerance: float = 0.0,
    step_back: float = 1.0,
) -> Tensor:
    """bnPU: R = m R_p+ + max(0, R_u- - pi R_p-), with m = `weight` (types,).

    m = pi is the non-negative form of uPU; Peng et al. take a larger one, for positives are rare.

    The gradient is that of nnPU's algorithm. Where the negative part N = R_u- - pi R_p- is not
    below -tolerance (beta), it is the gradient of m R_p+ + N. Where it is, the model has begun to
    overfit: it takes a step back, along the gradient of -step_back (gamma) N alone.
    """
    positive = weight * _mean_over(labelled, losses.positive, share)
    negative = _negative_risk(losses, labelled, share, prior)
    followed = torch.where(negative < -tolerance, -step_back * negative, positive + negative)
    value = positive + negative.clamp(min=0)
    return value.detach() + followed - followed.detach()


def other_types(losses: Losses, labelled: Tensor, share: Tensor) -> Tensor:
    """E[l- | labelled as another type]: a word that is marked as a person is no place.

    The risks above take such a word for unlabelled. `labelled` has each word once at most.
    """
    other = labelled.any(1, keepdim=True) & ~labelled  # (words, types)
    # a single type has no others: nothing over nothing is to be 0
    of_others = (share.sum() - share).clamp(min=torch.finfo(share.dtype).tiny)
    return _mean_over(other, losses.negative, of_others)


def bagged(losses: Losses, labelled: Tensor, drawn: Tensor) -> Tensor:
    """PU bagging: the mean over bags of (1/n) sum of l+ over labelled words, l- over drawn ones.

    The losses are (words, types, bags), one classifier a bag. Bag b counts an unlabelled word as a
    negative as often as its bootstrap sample has drawn it: `drawn` (words, bags). The smaller the
    samples are, the less it costs to call an unlabelled word a positive.
    """
    negatives = drawn[:, None, :] * losses.negative  # (words, types, bags)
    return torch.where(labelled[..., None], losses.positive, negatives).mean((0, 2))


def out_of_bag_mean(scores: Tensor, drawn: Tensor) -> Tensor:
    """The mean score over the bags that have not drawn a word; over all where every one has.

    `scores` are (words, types, bags), the result is (words, types).
    """
    outside = drawn == 0  # (words, bags)
    outside = outside | ~outside.any(1, keepdim=True)
    used = outside[:, None, :].to(scores.dtype)
    return (scores * used).sum(2) / used.sum(2)


def _negative_risk(losses: Losses, labelled: Tensor, share: Tensor, prior: Tensor) -> Tensor:
    return losses.negative.mean(0) - prior * _mean_over(labelled, losses.negative, share)


def _mean_over(chosen: Tensor, losses: Tensor, share: Tensor) -> Tensor:
    """The mean over the chosen words, which are the part `share` of the whole training set."""
    return (losses * chosen).mean(0) / share
