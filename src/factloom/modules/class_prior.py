"""How many of all words are names of each type, where only some names are known.

Garg, Wu, Smola, Balakrishnan, Lipton: Mixture Proportion Estimation and PU Learning: A Modern
Approach, NeurIPS 2021, arXiv 2111.00980 (best bin estimation). Lipton, Wang, Smola: Detecting and
Correcting for Label Shift with Black Box Predictors, ICML 2018, arXiv 1802.03916 (several types).

A classifier of labelled against all words scores words that it was not trained on. Let q_p(c) be
the part of the labelled words that score at least c, and q_u(c) that of all words. All words hold
the names, so q_u(c) >= pi q_p(c) at every c, with equality where nothing but names scores so high.
The best cut has the least upper bound

    (q_u(c) + (1 + gamma) s) / q_p(c),   s = sqrt(log(4/delta) / 2 n_p) + sqrt(log(4/delta) / 2 n_u)

where s is how far two empirical parts may be off. Above it there are names of all types. A second
classifier, of labelled words by type, is often wrong, but how often is known from labelled words:

    u_i = sum over types j of C_ij pi_j      u_i  = part of all words above the cut, taken for i
                                             C_ij = the same part of the labelled words of type j

which is solved for the priors pi_j. With one type, pi = q_u(c) / q_p(c). Names of a dictionary
come again and again, and a classifier that has seen a name knows it; what matters is how it scores
*other* names. So names are divided into folds, and each is scored by those that have not seen it.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

_FOLDS = 4
_DELTA, _GAMMA = 0.1, 0.01  # as in the paper
_RIDGE = 1e-3


def estimate_priors(
    features: Floats, kinds: Integers, names: Integers, types: int, seed: int = 0
) -> Floats:
    """(types,) the part of all words that each type has.

    `features` are (words, width), `kinds` (words,) the labelled types, -1 for none; words with the
    same number in `names` (words,) are the same name. Classifiers are linear. The labelled words
    of a type are a lower bound of its part; they are all that is known where names are too few.
    """
    share = np.array([(kinds == kind).mean() for kind in range(types)])
    labelled = kinds >= 0
    if len(np.unique(names[labelled])) < _FOLDS:
        return share
    scores, taken_for = _cross_fitted(features, kinds, types, _folds(names, labelled, seed))
    above = scores >= best_cut(scores[labelled], scores)
    present = np.flatnonzero(share)  # the types that can be told from others
    rates = np.array(
        [[(above & (taken_for == i))[kinds == j].mean() for j in present] for i in present]
    )
    found = np.array([(above & (taken_for == i)).mean() for i in present])
    share[present] = np.maximum(np.linalg.lstsq(rates, found, rcond=None)[0], share[present])
    bounded: Floats = np.minimum(share, 1.0)
    return bounded


def best_cut(positive: Floats, everything: Floats) -> float:
    """The score at which the part of positives is best told."""
    cuts = np.unique(positive)  # (cuts,) rising; q_p changes nowhere else
    positives = 1 - np.searchsorted(np.sort(positive), cuts) / len(positive)
    of_all = 1 - np.searchsorted(np.sort(everything), cuts) / len(everything)
    slack = sum(math.sqrt(math.log(4 / _DELTA) / (2 * n)) for n in (len(positive), len(everything)))
    return float(cuts[np.argmin((of_all + (1 + _GAMMA) * slack) / positives)])


def linear_classifier(features: Floats, positive: Booleans) -> Callable[[Floats], Floats]:
    """Ridge regression to 1 and -1, both classes with the same weight; both have to be there."""
    mean, scale = features.mean(0), features.std(0) + 1e-6

    def standardised(values: Floats) -> Floats:
        return np.column_stack([(values - mean) / scale, np.ones(len(values))])

    weights = np.where(positive, 0.5 / positive.sum(), 0.5 / (~positive).sum())  # (words,)
    inputs = standardised(features)  # (words, width + 1)
    weighted = inputs * weights[:, None]
    covariance = weighted.T @ inputs + _RIDGE * np.eye(inputs.shape[1])
    solution = np.linalg.solve(covariance, weighted.T @ np.where(positive, 1.0, -1.0))

    def score(values: Floats) -> Floats:
        found: Floats = standardised(values) @ solution
        return found

    return score


def _cross_fitted(
    features: Floats, kinds: Integers, types: int, fold: Integers
) -> tuple[Floats, Integers]:
    """How much each word looks like a labelled one, and like which type, without its own fold."""
    labelled = kinds >= 0
    scores, by_type = np.zeros(len(kinds)), np.full((len(kinds), types), -np.inf)
    for number in range(_FOLDS):
        scored, trained = fold == number, fold != number
        scores[scored] = linear_classifier(features[trained], labelled[trained])(features[scored])
        known = trained & labelled
        for kind in np.unique(kinds[known]):
            own = kinds[known] == kind
            if own.all():  # no other type to be told from
                by_type[scored, kind] = 0.0
            else:
                score = linear_classifier(features[known], own)
                by_type[scored, kind] = score(features[scored])
    return scores, by_type.argmax(1)


def _folds(names: Integers, labelled: Booleans, seed: int) -> Integers:
    """The fold of each word, the same for words of a name; labelled names are dealt out evenly."""
    distinct, name = np.unique(names, return_inverse=True)
    known = np.zeros(len(distinct), bool)
    known[name[labelled]] = True
    shuffled = np.random.default_rng(seed).permutation(len(distinct))
    order = shuffled[np.argsort(~known[shuffled], kind="stable")]  # labelled names first
    fold = np.empty(len(distinct), np.int64)
    fold[order] = np.arange(len(distinct)) % _FOLDS
    found: Integers = fold[name]
    return found
