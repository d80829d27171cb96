"""A linear-chain conditional random field over sequences of tags.

Lafferty, McCallum, Pereira: Conditional Random Fields, ICML 2001. With emissions e (a number a
word and tag), transitions T, start s and end f,

    score(y) = s[y_1] + sum_t e_t[y_t] + sum_t T[y_t-1, y_t] + f[y_n],   p(y) = exp(score(y)) / Z

What is known of some words only has the probability Z' / Z, with Z' over the paths that agree.

What follows from the scores, sums over all paths and the best of them, is found in numpy
(modules/chains.py), in double precision: log Z with its gradient, which marginals are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from factloom.modules import chains
from factloom.modules.chains import Chain, FieldScores, Messages, forbidden_out
from factloom.text.tags import UNKNOWN


@dataclass(frozen=True, slots=True)
class PathProbabilities:
    """Those of modules/chains.py as tensors."""

    marginal: Tensor  # (batch, length) p(y_t), 1 behind the end
    conditional: Tensor  # (batch, length) p(y_t | y_t-1), 1 behind the end; the first is p(y_1)


@dataclass(frozen=True, slots=True)
class _Chain:
    """Scores of a batch with stop as the last tag; minus infinity for what is forbidden."""

    emissions: Tensor  # (steps, batch, tags + 1), one step more than words; start is in the first
    transitions: Tensor  # (tags + 1, tags + 1) from, to; the last column has the end's scores

    def numbers(self) -> Chain:
        return Chain(self.emissions.detach().cpu().numpy(), self.transitions.detach().cpu().numpy())


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
            agreeing = _log_partition(chain, path)
        else:
            agreeing = _path_scores(chain, path)
        return (agreeing - _log_partition(chain)).to(_returned(emissions))

    @torch.no_grad()
    def marginals(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """(batch, length, tags) p(y_t = tag), 0 behind the end."""
        found = torch.from_numpy(chains.marginals(self._numbers(emissions.double(), lengths)))
        return found.to(emissions.device, _returned(emissions))

    @torch.no_grad()
    def path_probabilities(
        self, emissions: Tensor, paths: Tensor, lengths: Tensor
    ) -> PathProbabilities:
        """How probable the tags of the paths (batch, length) are, alone and after each other."""
        chain = self._numbers(emissions.double(), lengths)
        found = chains.path_probabilities(chain, paths.cpu().numpy(), lengths.cpu().numpy())
        marginal, conditional = map(torch.from_numpy, (found.marginal, found.conditional))
        kind, device = _returned(emissions), emissions.device
        return PathProbabilities(marginal.to(device, kind), conditional.to(device, kind))

    @torch.no_grad()
    def decode(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """(batch, length) the most probable paths, 0 behind the end."""
        chain = self._numbers(emissions.to(_returned(emissions)), lengths)
        return torch.from_numpy(chains.best_paths(chain)).to(emissions.device)

    @torch.no_grad()
    def scores(self) -> FieldScores:
        """What has been learned, as numbers."""
        learned = (self.transitions, self.start, self.end)
        allowed = (self.allowed, self.allowed_start, self.allowed_end)
        pairs = zip(learned, allowed, strict=True)
        return FieldScores(
            *(forbidden_out(own.double().cpu().numpy(), mask.cpu().numpy()) for own, mask in pairs)
        )

    def _numbers(self, emissions: Tensor, lengths: Tensor) -> Chain:
        return self.scores().chain(emissions.cpu().numpy(), lengths.cpu().numpy())

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
    def forward(ctx: Any, emissions: Tensor, transitions: Tensor, messages: Messages) -> Tensor:  # noqa: ARG004
        ctx.messages = messages
        return torch.from_numpy(messages.log_partition).to(emissions)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, weights: Tensor) -> tuple[Tensor, Tensor, None]:
        messages: Messages = ctx.messages
        numbers = weights.cpu().numpy()
        of_emissions = torch.from_numpy(messages.marginals).to(weights) * weights[:, None]
        counts = torch.from_numpy(messages.transition_counts(numbers)).to(weights)
        return of_emissions, counts, None


def _log_partition(chain: _Chain, agreeing: Tensor | None = None) -> Tensor:
    """(batch,) log Z, or of the ways through the known tags of the paths (steps, batch) alone."""
    numbers = chain.numbers()
    if agreeing is not None:
        numbers = numbers.agreeing(agreeing.cpu().numpy())
    apply = cast(Callable[..., Tensor], _KnownPartition.apply)
    return apply(chain.emissions, chain.transitions, chains.messages(numbers))


def _path_scores(chain: _Chain, path: Tensor) -> Tensor:
    """(batch,) scores of the paths (steps, batch)."""
    tags = chain.transitions.shape[0]
    own = chain.emissions.gather(2, path[..., None])[..., 0]  # (steps, batch)
    index = path[:-1] * tags + path[1:]
    # the gradient of index_select is cheap
    between = chain.transitions.flatten().index_select(0, index.flatten()).view_as(index)
    return own.sum(0) + between.sum(0)


def _exact(emissions: Tensor) -> torch.dtype:
    """The precision of sums: double, where the device has it."""
    return torch.float32 if emissions.device.type == "mps" else torch.float64


def _returned(emissions: Tensor) -> torch.dtype:
    """The precision of results: that of the emissions, but not half of it."""
    return torch.promote_types(emissions.dtype, torch.float32)
