"""A linear-chain conditional random field over sequences of tags.

Lafferty, McCallum, Pereira: Conditional Random Fields, ICML 2001. With emissions e (a number a
word and tag), transitions T, start s and end f,

    score(y) = s[y_1] + sum_t e_t[y_t] + sum_t T[y_t-1, y_t] + f[y_n],   p(y) = exp(score(y)) / Z

    log Z      forward algorithm                front_t = (front_t-1 exp(T)) * exp(e_t)
    marginals  forward-backward                 p(y_t = j) = front_t[j] behind_t[j] / Z
    decode     Viterbi: the same with a maximum for the sum

What is known of some words only has the probability Z' / Z, with Z' over the paths that agree.

All sequences of a batch go through the same steps. A tag more, *stop*, makes that possible: every
sequence goes from its last word to stop and stays there, so that neither ends nor padding need a
mask in the loops.

The sums are products of small matrices whose size is taken out at every step: many times faster
than log-sum-exp over (batch, tags, tags), and as exact, as long as no product is too small for a
double. Whether one was is found out afterwards; then log-sum-exp does the work.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from factloom.text.tags import UNKNOWN

_FORBIDDEN = -1e12  # minus infinity where log-sum-exp has gradients: infinities give NaN


@dataclass(frozen=True, slots=True)
class PathProbabilities:
    """How probable the tags of one path are, word by word.

    That the words i to j carry exactly the path's tags has the probability
    `marginal[i] * conditional[i + 1] * ... * conditional[j]`: a chain remembers one tag.
    """

    marginal: Tensor  # (batch, length) p(y_t), 1 behind the end
    conditional: Tensor  # (batch, length) p(y_t | y_t-1), 1 behind the end; the first is p(y_1)


@dataclass(frozen=True, slots=True)
class _Chain:
    """Scores of a batch with stop as the last tag; minus infinity for what is forbidden."""

    emissions: Tensor  # (steps, batch, tags + 1), one step more than words; start is in the first
    transitions: Tensor  # (tags + 1, tags + 1) from, to; the last column has the end's scores


@dataclass(frozen=True, slots=True)
class _Messages:
    """What the two directions know at every step, up to factors that cancel out."""

    log_partition: Tensor  # (batch,)
    factors: Tensor  # (tags + 1, tags + 1) exp(T)
    front: Tensor  # (steps, batch, tags + 1) all ways from the start to a tag
    behind: Tensor  # (steps, batch, tags + 1) all ways from a tag to the end, without the tag
    towards: Tensor  # (steps, batch, tags + 1) the same with the tag's emission
    agreement: Tensor  # (steps, batch, 1) sum over tags of front * behind

    @property
    def marginals(self) -> Tensor:
        """(steps, batch, tags + 1)"""
        return self.front * self.behind / self.agreement

    def transition_counts(self, weights: Tensor) -> Tensor:
        """How often each transition is expected, a sequence counting `weights` (batch,)."""
        source = (self.front / self.agreement * weights[:, None])[:-1]
        target = self.towards[1:]
        return self.factors * (source.flatten(0, 1).t() @ target.flatten(0, 1))


class ConditionalRandomField(nn.Module):
    """Emissions are (batch, length, tags) and lengths (batch,) everywhere.

    `allowed` (tags, tags) says which tag may follow which, `allowed_start` and `allowed_end`
    (tags,) which may be the first and the last; by default all may.
    """

    allowed: Tensor
    allowed_start: Tensor
    allowed_end: Tensor

    def __init__(
        self,
        tags: int,
        allowed: Tensor | None = None,
        allowed_start: Tensor | None = None,
        allowed_end: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.tags = tags
        self.transitions = nn.Parameter(torch.zeros(tags, tags))
        self.start = nn.Parameter(torch.zeros(tags))
        self.end = nn.Parameter(torch.zeros(tags))
        self._keep_mask("allowed", allowed, (tags, tags))
        self._keep_mask("allowed_start", allowed_start, (tags,))
        self._keep_mask("allowed_end", allowed_end, (tags,))

    def _keep_mask(self, name: str, mask: Tensor | None, shape: tuple[int, ...]) -> None:
        chosen = torch.ones(shape, dtype=torch.bool) if mask is None else mask.bool().view(shape)
        # whoever makes the field knows what is allowed: no need to save it
        self.register_buffer(name, chosen.clone(), persistent=False)

    def log_likelihood(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """(batch,) log p of the paths `tags` (batch, length); `UNKNOWN` stands for any tag.

        Where tags are unknown, all paths that agree with the others count: their sum is found as
        Z is, over these paths alone (Tsuboi, Kashima, Mori, Oda, Matsumoto: Training Conditional
        Random Fields Using Incomplete Annotations, COLING 2008).
        """
        chain = self._chain(emissions.to(_exact(emissions)), lengths)
        path = self._with_stop(tags, lengths)
        if bool((path == UNKNOWN).any()):
            agreeing = _log_partition(_agreeing(chain, path))
        else:
            agreeing = _path_scores(chain, path)
        return (agreeing - _log_partition(chain)).to(_returned(emissions))

    @torch.no_grad()
    def marginals(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """(batch, length, tags) p(y_t = tag), 0 behind the end."""
        chain = self._chain(emissions.to(_exact(emissions)), lengths)
        messages = _messages(chain)
        found = _probabilities_by_logarithms(chain)[0] if messages is None else messages.marginals
        return found[:-1, :, :-1].transpose(0, 1).to(_returned(emissions))

    @torch.no_grad()
    def path_probabilities(
        self, emissions: Tensor, paths: Tensor, lengths: Tensor
    ) -> PathProbabilities:
        """How probable the tags of the paths (batch, length) are, alone and after each other."""
        chain = self._chain(emissions.to(_exact(emissions)), lengths)
        path = self._with_stop(paths, lengths)  # (steps, batch)
        marginal, conditional = _path_probabilities(chain, path)
        conditional = torch.cat([marginal[:1], conditional])
        kind = _returned(emissions)
        return PathProbabilities(marginal[:-1].t().to(kind), conditional[:-1].t().to(kind))

    @torch.no_grad()
    def decode(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """(batch, length) the most probable paths, 0 behind the end."""
        chain = self._chain(emissions.to(_returned(emissions)), lengths)
        # tags in front: a maximum over the first dimension is several times faster
        values = list(chain.emissions.transpose(1, 2).contiguous().unbind(0))  # (tags + 1, batch)
        onward = chain.transitions.t().contiguous()  # (to, from)
        onward_of_batch = onward.unsqueeze(2)
        for step in range(len(values) - 2, -1, -1):
            ways = onward_of_batch + values[step + 1].unsqueeze(1)  # (to, from, batch)
            values[step] = values[step] + ways.amax(0)  # the best way on from each tag
        path = [values[0].argmax(0)]
        for value in values[1:-1]:
            path.append((onward.index_select(1, path[-1]) + value).argmax(0))
        found = torch.stack(path, 1)  # (batch, length)
        return found.masked_fill(found == self.tags, 0)

    def _chain(self, emissions: Tensor, lengths: Tensor) -> _Chain:
        words = torch.arange(emissions.shape[1] + 1, device=emissions.device)
        inside = (words[:, None] < lengths)[..., None]  # (steps, batch, 1)
        wide = pad(emissions.transpose(0, 1), (0, 1, 0, 0, 0, 1))  # (steps, batch, tags + 1)
        first = pad(self.start.masked_fill(~self.allowed_start, -torch.inf), (0, 1))
        wide = torch.cat([wide[:1] + first, wide[1:]])
        possible = torch.cat([inside.expand(-1, -1, self.tags), ~inside], 2)
        last = self.end.masked_fill(~self.allowed_end, -torch.inf)
        between = self.transitions.masked_fill(~self.allowed, -torch.inf)
        between = torch.cat([between, last[:, None]], 1)
        # from stop there is no way but to stay
        stop = pad(between.new_full((1, self.tags), -torch.inf), (0, 1))
        return _Chain(
            wide.masked_fill(~possible, -torch.inf), torch.cat([between, stop]).to(wide.dtype)
        )

    def _with_stop(self, tags: Tensor, lengths: Tensor) -> Tensor:
        """(steps, batch) paths that go to stop behind their ends."""
        words = torch.arange(tags.shape[1] + 1, device=tags.device)
        return pad(tags.t(), (0, 0, 0, 1)).masked_fill(words[:, None] >= lengths, self.tags)


class _KnownPartition(torch.autograd.Function):
    """log Z whose gradient is known beforehand: marginals and expected transitions."""

    @staticmethod
    def forward(ctx: Any, emissions: Tensor, transitions: Tensor, messages: _Messages) -> Tensor:  # noqa: ARG004
        ctx.messages = messages
        return messages.log_partition.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, weights: Tensor) -> tuple[Tensor, Tensor, None]:
        messages: _Messages = ctx.messages
        return (
            messages.marginals * weights[:, None],
            messages.transition_counts(weights),
            None,
        )


def _agreeing(chain: _Chain, path: Tensor) -> _Chain:
    """The chain with no ways left but those through the known tags of the paths (steps, batch)."""
    tags = torch.arange(chain.emissions.shape[2], device=path.device)
    possible = (path[..., None] == tags) | (path[..., None] == UNKNOWN)  # (steps, batch, tags + 1)
    return _Chain(chain.emissions.masked_fill(~possible, -torch.inf), chain.transitions)


def _log_partition(chain: _Chain) -> Tensor:
    """(batch,) log Z"""
    messages = _messages(chain)
    if messages is None:
        transitions = chain.transitions.expand(len(chain.emissions) - 1, 1, -1, -1)
        return _log_partition_by_logarithms(chain.emissions, transitions)
    apply = cast(Callable[..., Tensor], _KnownPartition.apply)
    return apply(chain.emissions, chain.transitions, messages)


@torch.no_grad()
def _messages(chain: _Chain) -> _Messages | None:
    """Both directions side by side; `None` where a number became too small to be exact."""
    emission_peak = chain.emissions.amax(2, keepdim=True)
    transition_peak = chain.transitions.max()
    emissions, transitions = chain.emissions - emission_peak, chain.transitions - transition_peak
    weights, factors = emissions.exp(), transitions.exp()
    both_weights = torch.stack([weights, weights.flip(0)], 1)  # (steps, 2, batch, tags + 1)
    both_factors = torch.stack([factors, factors.t()])  # (2, tags + 1, tags + 1)
    steps, batch, _ = weights.shape

    arriving = torch.ones_like(both_weights)  # before the emission
    states = torch.empty_like(both_weights)  # behind it, with the sum 1
    sizes = both_weights.new_empty(steps, 2, batch, 1)
    torch.sum(both_weights[0], 2, keepdim=True, out=sizes[0])
    torch.div(both_weights[0], sizes[0], out=states[0])
    steps_of = zip(
        states[:-1].unbind(0),
        arriving[1:].unbind(0),
        both_weights[1:].unbind(0),
        states[1:].unbind(0),
        sizes[1:].unbind(0),
        strict=True,
    )
    for before, arrived, weight, state, size in steps_of:
        torch.bmm(before, both_factors, out=arrived)
        torch.mul(arrived, weight, out=state)
        torch.sum(state, 2, keepdim=True, out=size)
        state.div_(size)

    front, behind = states[:, 0], arriving[:, 1].flip(0)
    agreement = (front * behind).sum(2, keepdim=True)
    smallest = (
        states.masked_fill(states == 0, 1).min().log()
        + _least_finite(emissions)
        + _least_finite(transitions)
    )
    if not torch.minimum(smallest, agreement.min().log()) > _least_logarithm(weights.dtype):
        return None
    return _Messages(
        log_partition=(sizes[:, 0].log() + emission_peak).sum((0, 2))
        + (steps - 1) * transition_peak,
        factors=factors,
        front=front,
        behind=behind,
        towards=states[:, 1].flip(0),
        agreement=agreement,
    )


def _least_logarithm(kind: torch.dtype) -> float:
    """Of a number that keeps its digits, and beside which what is rounded to 0 does not count."""
    limits = torch.finfo(kind)
    return math.log(limits.tiny / limits.eps)


def _least_finite(scores: Tensor) -> Tensor:
    """The least score that is not forbidden."""
    return scores.masked_fill(scores == -torch.inf, 0).min()


def _log_partition_by_logarithms(emissions: Tensor, transitions: Tensor) -> Tensor:
    """(batch,) log Z; transitions (steps - 1, batch or 1, tags + 1, tags + 1), one a step."""
    emissions, transitions = emissions.clamp(min=_FORBIDDEN), transitions.clamp(min=_FORBIDDEN)
    front = emissions[0]
    for emission, transition in zip(emissions[1:], transitions, strict=True):
        front = (front[:, :, None] + transition).logsumexp(1) + emission
    return front.logsumexp(1)


@torch.enable_grad()
def _probabilities_by_logarithms(chain: _Chain) -> tuple[Tensor, Tensor]:
    """Marginals of tags (steps, batch, tags + 1) and of transitions (steps - 1, batch, from, to).

    They are the derivatives of log Z by the emissions and by the transitions of each step.
    """
    steps, batch, _ = chain.emissions.shape
    emissions = chain.emissions.detach().requires_grad_()
    transitions = chain.transitions.detach().expand(steps - 1, batch, -1, -1).clone()
    total = _log_partition_by_logarithms(emissions, transitions.requires_grad_()).sum()
    marginals, pairs = torch.autograd.grad(total, (emissions, transitions))
    return marginals, pairs


def _path_probabilities(chain: _Chain, path: Tensor) -> tuple[Tensor, Tensor]:
    """p(y_t) (steps, batch) and p(y_t | y_t-1) (steps - 1, batch) of the paths (steps, batch)."""
    messages = _messages(chain)
    if messages is None:
        marginals, pairs = _probabilities_by_logarithms(chain)
        marginal = _along(marginals, path)
        onward, everything = _between(pairs, path), marginal[:-1]
    else:
        marginal = _along(messages.marginals, path)
        onward = _between(messages.factors, path) * _along(messages.towards, path)[1:]
        everything = _along(messages.behind, path)[:-1]
    # behind a tag that is impossible everything is
    return marginal, onward / everything.clamp(min=torch.finfo(onward.dtype).tiny)


def _path_scores(chain: _Chain, path: Tensor) -> Tensor:
    """(batch,) scores of the paths (steps, batch)."""
    return _along(chain.emissions, path).sum(0) + _between(chain.transitions, path).sum(0)


def _along(values: Tensor, path: Tensor) -> Tensor:
    """(steps, batch) what a path has of (steps, batch, tags + 1)."""
    return values.gather(2, path[..., None])[..., 0]


def _between(values: Tensor, path: Tensor) -> Tensor:
    """(steps - 1, batch) what a path's transitions have of (..., tags + 1, tags + 1)."""
    tags = values.shape[-1]
    index = path[:-1] * tags + path[1:]
    if values.dim() == 2:  # one table for all: its gradient is cheap by index_select
        return values.flatten().index_select(0, index.flatten()).view_as(index)
    return _along(values.flatten(2), index)


def _exact(emissions: Tensor) -> torch.dtype:
    """The precision of sums: double, where the device has it."""
    return torch.float32 if emissions.device.type == "mps" else torch.float64


def _returned(emissions: Tensor) -> torch.dtype:
    """The precision of results: that of the emissions, but not half of it."""
    return torch.promote_types(emissions.dtype, torch.float32)
