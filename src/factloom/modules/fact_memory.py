"""Fact memory: what is missing in a text, read from facts that can be edited.

Verga, Sun, Baldini Soares, Cohen: Adaptable and Interpretable Neural Memory over Symbolic
Knowledge (Facts as Experts), NAACL 2021, arXiv 2007.00849.

A group of facts has a subject s, a relation r, and the objects o_1 ... o_n:

    key       a_j = W_a [s; r]                        the null fact: a_0, learned
    query     v = W_f [h_first; h_last]               of the mention that is asked for
    groups    beta = softmax over the K best and null of  a_j . v
    objects   alpha = softmax_i(o_i . z),   z = W_b [h_first; h_last],   b_j = sum_i alpha_i o_i
    fact      f = sum_j beta_j b_j / (1 - beta_0)
    mixing    q = beta_0 c + (1 - beta_0) f           c = W_c [h_first; h_last], the text's own word
    answer    argmax_e q . e

W_a begins as s + r, and W_f as the mean of both ends, made smaller, where states are as wide as
entities: what an encoder says of a name or a relation alone is like what it says of a text with
them, so that the right facts are near the query before anything is learned.

With no facts beta_0 = 1, and the text alone answers. Nothing of a fact is learned by heart but
the vectors of its parts: a fact that is added, changed or taken out is so at the next question.
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn

from factloom.modules.devices import moved
from factloom.modules.entity_memory import best_entities

NULL_FACT = -1


@dataclass(frozen=True, slots=True)
class FactGroups:
    """Facts by subject and relation."""

    subject: Tensor  # (groups,) rows of the entity table
    relation: Tensor  # (groups,) rows of the relation table
    objects: Tensor  # (groups, most objects) rows of the entity table, any row for padding
    mask: Tensor  # bool (groups, most objects)

    def __len__(self) -> int:
        return len(self.subject)

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What the memory says of each query."""

    scores: Tensor  # (queries, 1 + K) a_j . v, the null fact first
    groups: Tensor  # (queries, 1 + K) which group each is, NULL_FACT for the null fact
    context: Tensor  # (queries, entity width) c
    answer: Tensor  # (queries, entity width) q

    @property
    def null(self) -> Tensor:
        """(queries,) the probability that no fact answers"""
        return self.scores.softmax(-1)[:, 0]


class FactMemory(nn.Module):
    """Ends of mentions in, vectors of answers out.

    >>> memory = FactMemory(width=64, entity_width=32)
    """

    def __init__(self, width: int, entity_width: int) -> None:
        super().__init__()
        self.key = nn.Linear(2 * entity_width, entity_width)
        self.null_key = nn.Parameter(torch.randn(entity_width) * 0.02)
        self.query = nn.Linear(2 * width, entity_width)
        self.choice = nn.Linear(2 * width, entity_width)  # z
        self.context = nn.Linear(2 * width, entity_width)
        if width == entity_width:
            self._begin_alike(width)

    @torch.no_grad()
    def _begin_alike(self, width: int) -> None:
        same = torch.eye(width)
        self.key.weight.copy_(torch.cat([same, same], 1))
        self.query.weight.copy_(torch.cat([same, same], 1) / (2 * width**0.25))
        for layer in (self.key, self.query):
            nn.init.zeros_(layer.bias)

    def keys(self, facts: FactGroups, entities: Tensor, relations: Tensor) -> Tensor:
        """(groups, entity width)"""
        both = torch.cat([entities[facts.subject], relations[facts.relation]], -1)
        keys: Tensor = self.key(both)
        return keys

    def forward(
        self,
        ends: Tensor,
        facts: FactGroups,
        entities: Tensor,
        relations: Tensor,
        most: int | None = None,
    ) -> Recalled:
        """`ends` (queries, 2 width); `entities` and `relations` are the tables of vectors."""
        query, choice, context = self.query(ends), self.choice(ends), self.context(ends)
        keys = self.keys(facts, entities, relations)
        best = best_entities(query, keys, len(facts) if most is None else most)
        # (queries, K)
        scores = torch.cat([(query @ self.null_key)[:, None], best.scores], 1)
        weights = scores.softmax(-1)  # (queries, 1 + K)
        told = self._objects(choice, best.entities, facts, entities)
        # (queries, K, entity width)
        answer = weights[:, :1] * context + (weights[:, 1:, None] * told).sum(1)
        none = best.entities.new_full((len(ends), 1), NULL_FACT)
        return Recalled(scores, torch.cat([none, best.entities], 1), context, answer)

    @staticmethod
    def _objects(choice: Tensor, groups: Tensor, facts: FactGroups, entities: Tensor) -> Tensor:
        """(queries, K, entity width) the objects of each group as one vector"""
        objects, mask = facts.objects[groups], facts.mask[groups]  # (queries, K, most objects)
        vectors = entities[objects]  # (queries, K, most objects, entity width)
        fit = (vectors @ choice[:, None, :, None]).squeeze(-1).masked_fill(~mask, -torch.inf)
        return (fit.softmax(-1).unsqueeze(-1) * vectors).sum(2)
