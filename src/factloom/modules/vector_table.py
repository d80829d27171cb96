"""A table of vectors in which only the rows that training has seen are trained.

The gradient of a row that no training document uses is zero, so it may as well be kept aside:
tens of thousands of words cost the optimizer nothing.
"""

from typing import Self, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from factloom.text.vocabulary import Vocabulary
from factloom.text.word_vectors import WordVectors, unit_length


class VectorTable(nn.Module):
    """Row 0 for the unknown, then the learned rows, then the fixed ones.

    Rows begin with about the same length. The longer they are, the slower their directions change.
    """

    fixed: Tensor

    def __init__(self, learned: int, fixed: int, width: int, length: float = 1.0) -> None:
        super().__init__()
        self.width = width
        self.learned = nn.Embedding(1 + learned, width)
        nn.init.normal_(self.learned.weight, std=length * width**-0.5)
        # word vectors are not worth more digits, and there may be many of them
        self.register_buffer("fixed", torch.zeros(fixed, width, dtype=torch.float16))

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        vectors: WordVectors | None,
        width: int,
        length: float = 1.0,
    ) -> Self:
        """A table for the known words, with the directions of their vectors where there are any."""
        table = cls(vocabulary.learned, vocabulary.fixed, width, length)
        if vectors is not None:
            table._fill(vocabulary, vectors, length)
        return table

    @torch.no_grad()
    def _fill(self, vocabulary: Vocabulary, vectors: WordVectors, length: float) -> None:
        source_of = {word: row for row, word in enumerate(vectors.words)}
        known = [(row, word) for row, word in enumerate(vocabulary.known, 1) if word in source_of]
        whole = torch.cat([self.learned.weight, self.fixed.to(self.learned.weight)])
        begin = torch.from_numpy(unit_length(vectors.vectors)) * length
        whole[[row for row, _ in known]] = begin[[source_of[word] for _, word in known]]
        self.learned.weight.copy_(whole[: self.learned.num_embeddings])
        self.fixed.copy_(whole[self.learned.num_embeddings :])

    def forward(self, rows: Tensor) -> Tensor:
        """(...) -> (..., width)"""
        learned = self.learned.num_embeddings
        vectors = cast(Tensor, self.learned(rows.clamp(max=learned - 1)))
        new = rows >= learned
        if not bool(new.any()):  # always so in training
            return vectors
        fixed = F.embedding((rows - learned).clamp(min=0), self.fixed).to(vectors.dtype)
        return torch.where(new[..., None], fixed, vectors)
