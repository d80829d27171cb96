"""Inference in a linear chain of tags, in numpy: what is probable, and what is most probable.

The formulas are those of modules/crf.py, which learns the scores; every runtime decides with this.

    log Z      forward algorithm                front_t = (front_t-1 exp(T)) * exp(e_t)
    marginals  forward-backward                 p(y_t = j) = front_t[j] behind_t[j] / Z
    decode     Viterbi: the same with a maximum for the sum

All sequences of a batch go through the same steps. A tag more, *stop*, makes that possible: every
sequence goes from its last word to stop and stays there, so that neither ends nor padding need a
mask in the loops.

The sums are products of small matrices whose size is taken out at every step: many times faster
than log-sum-exp over (batch, tags, tags), and as exact, as long as no product is too small for a
double. Whether one was is found out afterwards; then log-sum-exp does the work.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factloom.text.tags import UNKNOWN, Booleans

Floats = NDArray[Any]  # of the precision of the emissions, in sums of float64
Integers = NDArray[np.int64]

_FORBIDDEN = -1e12  # minus infinity where log-sum-exp would subtract infinities
# Of a number that keeps its digits, and beside which what is rounded to 0 does not count.
_LEAST_LOGARITHM = math.log(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class PathProbabilities:
    """How probable the tags of one path are, word by word.

    That the words i to j carry exactly the path's tags has the probability
    `marginal[i] * conditional[i + 1] * ... * conditional[j]`: a chain remembers one tag.
    """

    marginal: Floats  # (batch, length) p(y_t), 1 behind the end
    conditional: Floats  # (batch, length) p(y_t | y_t-1), 1 behind the end; the first is p(y_1)


@dataclass(frozen=True, slots=True)
class FieldScores:
    """What a field has learned, with minus infinity for what is forbidden."""

    transitions: Floats  # (tags, tags) from, to
    start: Floats  # (tags,)
    end: Floats  # (tags,)

    def decode(self, emissions: Floats, lengths: Integers) -> Integers:
        """(batch, length) the most probable paths, 0 behind the end."""
        return best_paths(self.chain(emissions, lengths))

    def path_probabilities(
        self, emissions: Floats, paths: Integers, lengths: Integers
    ) -> PathProbabilities:
        """How probable the tags of the paths (batch, length) are, alone and after each other."""
        exact = self.chain(emissions.astype(np.float64), lengths)
        return path_probabilities(exact, paths, lengths)

    def chain(self, emissions: Floats, lengths: Integers) -> "Chain":
        """Of emissions (batch, length, tags); lengths (batch,)."""
        batch, length, tags = emissions.shape
        inside = np.arange(length + 1)[:, None] < lengths  # (steps, batch)
        wide = np.zeros((length + 1, batch, tags + 1), emissions.dtype)
        wide[:length, :, :tags] = emissions.swapaxes(0, 1)
        wide[0, :, :tags] += self.start
        wide[~inside, :tags] = -np.inf
        wide[inside, tags] = -np.inf
        between = np.full((tags + 1, tags + 1), -np.inf, emissions.dtype)
        between[:tags, :tags] = self.transitions
        between[:tags, tags] = self.end
        between[tags, tags] = 0  # from stop there is no way but to stay
        return Chain(wide, between)


@dataclass(frozen=True, slots=True)
class Chain:
    """Scores of a batch with stop as the last tag; minus infinity for what is forbidden."""

    emissions: Floats  # (steps, batch, tags + 1), one step more than words; start is in the first
    transitions: Floats  # (tags + 1, tags + 1) from, to; the last column has the end's scores

    def agreeing(self, path: Integers) -> "Chain":
        """With no ways left but those through the known tags of the paths (steps, batch)."""
        tags = np.arange(self.emissions.shape[2])
        possible = (path[..., None] == tags) | (path[..., None] == UNKNOWN)
        return Chain(np.where(possible, self.emissions, -np.inf), self.transitions)


@dataclass(frozen=True, slots=True)
class Messages:
    """What is known of a chain when both directions have been gone through."""

    log_partition: Floats  # (batch,)
    marginals: Floats  # (steps, batch, tags + 1)
    source: Floats  # (steps - 1, batch, tags + 1) these three multiply to
    factors: Floats  # (steps - 1 or 1, batch or 1, tags + 1, tags + 1)
    target: Floats  # (steps - 1, batch, tags + 1) the probabilities of transitions

    def transition_counts(self, weights: Floats) -> Floats:
        """How often each transition is expected, a sequence counting `weights` (batch,)."""
        source = self.source * weights[:, None]
        if len(self.factors) == 1:  # the same at every step
            tags = source.shape[2]
            counts: Floats = source.reshape(-1, tags).T @ self.target.reshape(-1, tags)
            counts *= self.factors[0, 0]
            return counts
        together = source[..., None] * self.factors * self.target[..., None, :]
        found: Floats = together.sum((0, 1))
        return found


def messages(chain: Chain) -> Messages:
    """Both directions, in products where these are exact, else in logarithms."""
    with np.errstate(divide="ignore", invalid="ignore", under="ignore", over="ignore"):
        return _by_products(chain) or _by_logarithms(chain)


def _by_products(chain: Chain) -> Messages | None:
    """Both directions side by side; `None` where a number became too small to be exact."""
    emission_peak = chain.emissions.max(2, keepdims=True)
    transition_peak = chain.transitions.max()
    emissions, transitions = chain.emissions - emission_peak, chain.transitions - transition_peak
    weights, factors = np.exp(emissions), np.exp(transitions)
    both_weights = np.stack([weights, weights[::-1]], 1)  # (steps, 2, batch, tags + 1)
    both_factors = np.stack([factors, factors.T])  # (2, tags + 1, tags + 1)
    steps = len(weights)

    arriving = np.ones_like(both_weights)  # before the emission
    states = np.empty_like(both_weights)  # behind it, with the sum 1
    sizes = np.empty_like(both_weights[..., :1])
    for step in range(steps):
        if step:
            np.matmul(states[step - 1], both_factors, out=arriving[step])
        np.multiply(arriving[step], both_weights[step], out=states[step])
        np.sum(states[step], 2, keepdims=True, out=sizes[step])
        states[step] /= sizes[step]

    front, behind = states[:, 0], arriving[::-1, 1]
    agreement = (front * behind).sum(2, keepdims=True)  # (steps, batch, 1)
    smallest = (
        np.log(np.where(states == 0, 1, states).min())
        + _least_finite(emissions)
        + _least_finite(transitions)
    )
    if not min(smallest, np.log(agreement.min())) > _LEAST_LOGARITHM:
        return None
    total = (np.log(sizes[:, 0]) + emission_peak).sum((0, 2)) + (steps - 1) * transition_peak
    # p(y_t, y_t+1) = front_t exp(T) towards_t+1 / agreement_t, whose size is 1 at each step
    towards = states[::-1, 1][1:]
    return Messages(
        log_partition=total,
        marginals=front * behind / agreement,
        source=(front / agreement)[:-1],
        factors=factors[None, None],
        target=towards,
    )


def _least_finite(scores: Floats) -> Any:
    """The least score that is not forbidden."""
    return np.where(scores == -np.inf, 0, scores).min()


def _by_logarithms(chain: Chain) -> Messages:
    emissions = np.maximum(chain.emissions, _FORBIDDEN)
    transitions = np.maximum(chain.transitions, _FORBIDDEN)
    front, behind = [emissions[0]], [np.zeros_like(emissions[0])]
    for emission in emissions[1:]:
        front.append(_log_sum(front[-1][:, :, None] + transitions, 1) + emission)
    for emission in emissions[:0:-1]:
        behind.append(_log_sum(transitions + (emission + behind[-1])[:, None], 2))
    fronts, behinds = np.stack(front), np.stack(behind[::-1])  # (steps, batch, tags + 1)
    total = _log_sum(fronts[-1], 1)  # (batch,)
    towards = (emissions + behinds)[1:]
    ways = fronts[:-1, :, :, None] + transitions + towards[:, :, None] - total[:, None, None]
    ones = np.ones_like(towards)
    return Messages(total, np.exp(fronts + behinds - total[:, None]), ones, np.exp(ways), ones)


def _log_sum(values: Floats, axis: int) -> Floats:
    peak = values.max(axis, keepdims=True)
    found: Floats = np.log(np.exp(values - peak).sum(axis)) + peak.squeeze(axis)
    return found


def marginals(chain: Chain) -> Floats:
    """(batch, length, tags) p(y_t = tag), 0 behind the end."""
    return messages(chain).marginals[:-1, :, :-1].swapaxes(0, 1)


def path_probabilities(chain: Chain, paths: Integers, lengths: Integers) -> PathProbabilities:
    """How probable the tags of the paths (batch, length) are, alone and after each other."""
    stop = chain.transitions.shape[0] - 1
    path = with_stop(paths, lengths, stop)  # (steps, batch)
    known = messages(chain)
    marginal = along(known.marginals, path)
    factors = np.broadcast_to(known.factors, (*known.source.shape, known.source.shape[2]))
    step, row = np.ogrid[: len(path) - 1, : path.shape[1]]
    together = (
        along(known.source, path[:-1])
        * factors[step, row, path[:-1], path[1:]]
        * along(known.target, path[1:])
    )
    # behind a tag that is impossible everything is
    conditional = together / np.maximum(marginal[:-1], np.finfo(np.float64).tiny)
    conditional = np.concatenate([marginal[:1], conditional])
    inside = (path != stop)[:-1]
    of_words = (np.where(inside, part[:-1], 1.0).T for part in (marginal, conditional))
    return PathProbabilities(*of_words)


def best_paths(chain: Chain) -> Integers:
    """(batch, length) the most probable paths, 0 behind the end."""
    # tags in front: a maximum over the first dimension is several times faster
    values = list(np.ascontiguousarray(chain.emissions.swapaxes(1, 2)))  # (tags + 1, batch) each
    onward = np.ascontiguousarray(chain.transitions.T)  # (to, from)
    for step in range(len(values) - 2, -1, -1):
        ways = onward[:, :, None] + values[step + 1][:, None]  # (to, from, batch)
        values[step] = values[step] + ways.max(0)  # the best way on from each tag
    path = [values[0].argmax(0)]
    for value in values[1:-1]:
        path.append((onward[:, path[-1]] + value).argmax(0))
    found = np.stack(path, 1)  # (batch, length)
    return np.where(found == len(onward) - 1, 0, found)


def with_stop(tags: Integers, lengths: Integers, stop: int) -> Integers:
    """(steps, batch) paths that go to stop behind their ends."""
    steps = np.pad(tags.T, ((0, 1), (0, 0)))
    return np.where(np.arange(len(steps))[:, None] < lengths, steps, stop)


def along(values: Floats, path: Integers) -> Floats:
    """(steps, batch) what a path has of (steps, batch, tags + 1)."""
    return np.take_along_axis(values, path[..., None], 2)[..., 0]


def forbidden_out(scores: Floats, allowed: Booleans) -> Floats:
    """The scores with minus infinity for what is not allowed."""
    return np.where(allowed, scores, -np.inf)
