"""Vectors of entities and relations that are learned on a graph: which facts look like known ones.

ComplEx (Trouillon, Welbl, Riedel, Gaussier, Bouchard: Complex Embeddings for Simple Link
Prediction, ICML 2016) and TransE (Bordes, Usunier, Garcia-Durán, Weston, Yakhnenko, NIPS 2013):

    ComplEx   score(s, r, o) = Re( sum_i s_i r_i conj(o_i) )       vectors of complex numbers
    TransE    score(s, r, o) = - || s + r - o ||

Each fact is learned in both directions, the second one with an inverse relation (Lacroix, Usunier,
Obozinski: Canonical Tensor Decomposition for Knowledge Base Completion, ICML 2018, also for N3):

    loss = -log( exp score(s, r, o) / sum over o and some entities e of exp score(s, r, e) )
           + n3 * mean of |s|^3 + |r|^3 + |o|^3

The entities are drawn by chance, the same for all facts of a batch; all, where they are few.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Self

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional as F

from factloom.modules.devices import moved

Score = Literal["complex", "translation"]


class FactExample(NamedTuple):
    """A fact by its numbers, as the trainer takes it."""

    subject: int
    relation: int
    object: int

    @property
    def id(self) -> str:
        return ""

    @property
    def tokens(self) -> int:
        return 1

    @property
    def terms(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class FactBatch:
    facts: Tensor  # (facts, 3)

    @property
    def weight(self) -> int:
        return len(self.facts)

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


@dataclass(frozen=True, slots=True)
class Loss:
    loss: Tensor  # ()


class GraphVectors(nn.Module):
    """Trained by the package's trainer: `training/graph_vectors.py`."""

    def __init__(
        self,
        entities: int,
        relations: int,
        *,
        width: int = 128,
        score: Score = "complex",
        others: int = 512,
        n3: float = 0.005,
    ) -> None:
        super().__init__()
        self.score = score
        self.others = others
        self.n3 = n3 if score == "complex" else 0.0
        self.entities = nn.Parameter(torch.randn(entities, width) * 0.1)
        self.relations = nn.Parameter(torch.randn(2 * relations, width) * 0.1)

    def collate(self, examples: Sequence[FactExample]) -> FactBatch:
        return FactBatch(torch.tensor([tuple(each) for each in examples], dtype=torch.long))

    def forward(self, batch: FactBatch) -> Loss:
        subject, relation, object = batch.facts.unbind(1)
        turned = relation + len(self.relations) // 2
        asked = torch.cat([subject, object]), torch.cat([relation, turned])
        right = torch.cat([object, subject])  # (2 facts,)
        others = self._drawn(right.device)  # (others,)
        query = self.queries(*asked)
        wrong = self.against(query, self.entities[others])  # (2 facts, others)
        wrong = wrong.masked_fill(others == right[:, None], -torch.inf)
        best = self.against(query[:, None], self.entities[right][:, None]).flatten(1)
        losses = torch.cat([best, wrong], 1).logsumexp(1) - best.squeeze(1)
        return Loss(losses.mean() + self.n3 * self._cubes(subject, relation, object))

    def _drawn(self, device: torch.device) -> Tensor:
        count = len(self.entities)
        if count <= self.others:
            return torch.arange(count, device=device)
        return torch.randint(count, (self.others,), device=device)

    def _cubes(self, subject: Tensor, relation: Tensor, object: Tensor) -> Tensor:
        rows = (self.entities[subject], self.relations[relation], self.entities[object])
        cubes = [(_parts(each).square().sum(-2) + 1e-12).pow(1.5).sum(-1).mean() for each in rows]
        return torch.stack(cubes).sum()

    def queries(self, entity: Tensor, relation: Tensor) -> Tensor:
        """(queries, width) what an object should be like; relations from R on are inverse"""
        first, second = self.entities[entity], self.relations[relation]
        if self.score == "translation":
            return first + second
        (a, b), (c, d) = _parts(first).unbind(-2), _parts(second).unbind(-2)
        return torch.cat([a * c - b * d, a * d + b * c], -1)

    def against(self, queries: Tensor, table: Tensor) -> Tensor:
        """(queries, rows of the table) the scores"""
        if self.score == "translation":
            return -torch.cdist(queries, table)
        return queries @ table.transpose(-1, -2)

    @torch.inference_mode()
    def scores(self, entity: Tensor, relation: Tensor) -> Tensor:
        """(queries, entities)"""
        return self.against(self.queries(entity, relation), self.entities)

    @torch.inference_mode()
    def shares(self, entity: Tensor, relation: Tensor) -> Tensor:
        """(queries, entities) the probabilities of all entities as the object"""
        return F.softmax(self.scores(entity, relation), -1)

    @torch.inference_mode()
    def likeness(self, entity: int, others: Tensor) -> Tensor:
        """(others,) cosines"""
        return F.cosine_similarity(self.entities[entity][None], self.entities[others])

    def save_pretrained(self, directory: str | Path) -> None:
        """The weights, and what they are; the numbers' names are the facts' matter."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "config.json").write_text(json.dumps({"score": self.score}))
        save_file(
            {name: part.contiguous() for name, part in self.state_dict().items()},
            directory / "model.safetensors",
        )


def _parts(vectors: Tensor) -> Tensor:
    """(..., 2, width / 2) real and imaginary"""
    return vectors.view(*vectors.shape[:-1], 2, -1)
