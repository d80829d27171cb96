"""Beam search over several groups at once: the likeliest sequences that end.

    log p(y) = sum_i log p(y_i | y_<i)

After every token each group keeps the `beams` likeliest sequences that go on, and as many of those
that have ended. Logarithms only fall, so that a group is done when the worst of the `beams` best
that have ended is likelier than every one that goes on. Probabilities are not divided by lengths:
what is searched is the likeliest y.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Steps(Protocol):
    """What says how likely tokens are; rows are sequences, group by group."""

    def begin(self) -> Tensor:
        """(groups, tokens) log p of the first token."""

    def advance(self, parents: Tensor, tokens: Tensor) -> Tensor:
        """(rows, tokens) log p of what follows, where row r is row parents[r] of the last call and
        tokens[r]."""


@dataclass(frozen=True, slots=True)
class Sequenced:
    """A sequence of tokens, the one that ends it included."""

    tokens: tuple[int, ...]
    logarithm: float  # log p
    ended: bool = True  # false where the longest length came first


def beam_search(
    steps: Steps, beams: int, longest: int, ends: Sequence[int]
) -> list[list[Sequenced]]:
    """The best sequences of each group, the likeliest first, those that have ended in front."""
    following = steps.begin()  # (groups, tokens)
    groups = [_Group(beams, ends) for _ in range(len(following))]
    live: list[list[tuple[tuple[int, ...], float]]] = [[((), 0.0)] for _ in groups]
    for number in range(1, longest + 1):
        parents: list[int] = []
        tokens: list[int] = []
        kept, row = [], 0
        for group, before in zip(groups, live, strict=True):
            chosen = group.extend(before, following[row : row + len(before)])
            parents += [row + parent for parent, _, _ in chosen]
            tokens += [token for _, token, _ in chosen]
            kept.append([((*before[p][0], token), value) for p, token, value in chosen])
            row += len(before)
        live = kept
        if not parents or number == longest:
            break
        device = following.device
        following = steps.advance(
            torch.tensor(parents, device=device), torch.tensor(tokens, device=device)
        )
    return [group.best(rest) for group, rest in zip(groups, live, strict=True)]


class _Group:
    """Sequences of one group that have ended."""

    def __init__(self, beams: int, ends: Sequence[int]) -> None:
        self.beams, self.ends = beams, sorted(set(ends))
        self.ended: list[Sequenced] = []

    def extend(
        self, live: Sequence[tuple[tuple[int, ...], float]], following: Tensor
    ) -> list[tuple[int, int, float]]:
        """Parent, token and log p of those that go on; (live, tokens) are what may follow."""
        if not live:
            return []
        before = torch.tensor([value for _, value in live], dtype=torch.double)
        scores = before[:, None] + following.double().cpu()  # (live, tokens)
        for (tokens, _), row in zip(live, scores, strict=True):
            ended = [Sequenced((*tokens, end), float(row[end])) for end in self.ends]
            self.ended += [one for one in ended if one.logarithm > -torch.inf]
        scores[:, list(self.ends)] = -torch.inf
        values, places = scores.flatten().topk(min(self.beams, scores.numel()))
        worst = self._worst()
        return [
            (*divmod(place, scores.shape[1]), value)
            for place, value in zip(places.tolist(), values.tolist(), strict=True)
            if value > worst
        ]

    def _worst(self) -> float:
        """What has to be beaten to be among the best."""
        self.ended.sort(key=lambda one: -one.logarithm)
        del self.ended[self.beams :]
        return self.ended[-1].logarithm if len(self.ended) == self.beams else -torch.inf

    def best(self, rest: Sequence[tuple[tuple[int, ...], float]]) -> list[Sequenced]:
        self._worst()
        open_ = [Sequenced(tokens, value, ended=False) for tokens, value in rest]
        return [*self.ended, *sorted(open_, key=lambda one: -one.logarithm)][: self.beams]
