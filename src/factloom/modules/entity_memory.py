"""Entity memory: what mentions stand for, read from a table of entity vectors.

Févry, Baldini Soares, FitzGerald, Choi, Kwiatkowski: Entities as Experts: Sparse Memory Access
with Entity Supervision, EMNLP 2020, arXiv 2004.07202.

    query     h_m = W_f [x_first; x_last]
    weights   alpha = softmax over the K best of  h_m . e_j
    read      E_m = sum_j alpha_j e_j
    back      x_first' = LayerNorm(x_first + W_b E_m)       every other token: LayerNorm(x)

All entities take part in training; K of them are enough to answer, and the search for them is
exact. With K = all both are one softmax.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from factloom.modules.text_spans import TextSpans

_AT_ONCE = 2**16  # entities that are compared at once


@dataclass(frozen=True, slots=True)
class Best:
    """The entities that fit queries best, the best first."""

    scores: Tensor  # (queries, K)
    entities: Tensor  # (queries, K) rows of the table


def best_entities(queries: Tensor, table: Tensor, most: int) -> Best:
    """The `most` rows of the table with the largest dot products, exactly.

    The table is gone through in parts, so that no (queries, entities) are ever held.
    """
    scores = queries.new_zeros(len(queries), 0)
    entities = torch.zeros(len(queries), 0, dtype=torch.long, device=queries.device)
    for start in range(0, len(table), _AT_ONCE):
        part = queries @ table[start : start + _AT_ONCE].T  # (queries, part)
        found, place = part.topk(min(most, part.shape[1]), dim=1)
        scores = torch.cat([scores, found], 1)
        entities = torch.cat([entities, place + start], 1)
        scores, order = scores.topk(min(most, scores.shape[1]), dim=1)
        entities = entities.gather(1, order)
    return Best(scores, entities)


def read_memory(queries: Tensor, table: Tensor, most: int | None = None) -> Tensor:
    """(queries, width) the mean of the entities, weighted by softmax; zero from an empty table.

    `most` keeps to the best ones; the gradient reaches those, and the queries.
    """
    if not len(table):
        return torch.zeros_like(queries)
    if most is None or most >= len(table):
        return (queries @ table.T).softmax(-1) @ table
    best = best_entities(queries, table, most)
    return (best.scores.softmax(-1).unsqueeze(-1) * table[best.entities]).sum(1)


class EntityMemory(nn.Module):
    """States of texts with mentions in; states that know of entities, and the queries, out.

    >>> memory = EntityMemory(width=64, entity_width=32)
    """

    def __init__(self, width: int, entity_width: int) -> None:
        super().__init__()
        self.query = nn.Linear(2 * width, entity_width)
        self.back = nn.Linear(entity_width, width)
        self.norm = nn.LayerNorm(width)

    def forward(
        self, states: Tensor, spans: TextSpans, table: Tensor, most: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """(texts, length, width) and (spans, entity width)"""
        queries = self.query(spans.ends(states))  # (spans, entity width)
        read = self.back(read_memory(queries, table, most)).to(states.dtype)  # (spans, width)
        places = spans.text * states.shape[1] + spans.first
        added = states.flatten(0, 1).index_add(0, places, read).view_as(states)
        return self.norm(added), queries
