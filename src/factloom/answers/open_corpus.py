"""The corpus that answers questions: its passages, a vector of each, the best for a query.

    top-k(q) = the k passages z of the greatest q . v_z

exactly: every passage is compared. Passages of some documents can be left out, such as those of the
document that a masked sentence comes from, which would give the answer away.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from factloom import formats
from factloom.answers.dual_encoder import TextEmbedder
from factloom.answers.passages import Passage, headed, passages_of, title_of
from factloom.document import Document
from factloom.encoders.windows import TokenIds
from factloom.errors import InputError, Place
from factloom.files.data_path import data_path
from factloom.graph.store import Store

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The best passages for some queries."""

    rows: Tensor  # (queries, top) their numbers
    there: Tensor  # bool (queries, top), false where there are fewer


class OpenCorpus:
    """The passages of some files or stores, which are read, and embedded, when they are needed."""

    def __init__(self, paths: Sequence[str], most_words: int) -> None:
        self.paths, self.most_words = tuple(paths), most_words
        self._passages: list[Passage] | None = None
        self._titles: list[str] = []
        self._tokens: list[TokenIds] | None = None
        self._vectors = torch.zeros(0, 0)
        self._made_with: int | None = None

    # --- passages ----------------------------------------------------------------------------

    @property
    def passages(self) -> list[Passage]:
        if self._passages is None:
            self.take(document for path in self.paths for document in read_documents(path))
        assert self._passages is not None
        return self._passages

    def take(self, documents: Iterable[Document]) -> None:
        """Have the passages of these documents, in place of those that there were."""
        self._titles, found = [], list[Passage]()
        for document in documents:
            passages = passages_of(document, self.most_words)
            found.extend(passages)
            self._titles.extend([title_of(document)] * len(passages))
        if not found:
            raise InputError("nothing-to-index", Place(file=", ".join(self.paths) or None))
        self._passages, self._tokens, self._made_with = found, None, None

    def __len__(self) -> int:
        return len(self.passages)

    def title(self, row: int) -> str:
        return self._titles[row]

    def at(self, rows: Tensor) -> list[Passage]:
        """The passages with these numbers."""
        passages = self.passages
        return [passages[row] for row in rows.tolist()]

    def texts(self) -> list[str]:
        """Every passage behind the title of its document."""
        passages = self.passages
        return [
            headed(*pair) for pair in zip(self._titles, (p.text for p in passages), strict=True)
        ]

    def rows_of(self, documents: Collection[str]) -> list[int]:
        """The passages of documents with these ids."""
        return [row for row, one in enumerate(self.passages) if one.document in documents]

    def tokens(self, embedder: TextEmbedder) -> list[TokenIds]:
        """Of every passage behind its title, made once."""
        if self._tokens is None:
            self._tokens = embedder.tokens(self.texts())
        return self._tokens

    # --- vectors -----------------------------------------------------------------------------

    def vectors(self, embedder: TextEmbedder, *, fresh: bool = False) -> Tensor:
        """(passages, width), of the weights' device and type.

        `fresh` ones are those that the embedder's weights give now; others may be older.
        """
        old = self._made_with is None or (fresh and self._made_with != embedder.changes)
        if old:
            self.put(embedder.encode(self.tokens(embedder)))
            self._made_with = embedder.changes
        return self._vectors.to(embedder.projection.weight)

    def put(self, vectors: Vectors) -> None:
        """Have vectors that somebody else has made of the same passages, maybe some steps ago."""
        self._vectors, self._made_with = torch.from_numpy(vectors), -1

    def search(
        self, queries: Tensor, vectors: Tensor, top: int, without: Sequence[Sequence[int]] = ()
    ) -> FoundRows:
        """The best passages for queries (queries, width), `without` some rows for each."""
        scores = queries.detach() @ vectors.T  # (queries, passages)
        for row, left_out in enumerate(without):
            scores[row, list(left_out)] = -torch.inf
        best = scores.topk(min(top, scores.shape[1]), dim=1)
        return FoundRows(best.indices, best.values.isfinite())


def read_documents(path: str) -> Iterable[Document]:
    """Those of a file, or of a store by its folder."""
    place = Path(data_path(path))
    if place.is_dir():
        with Store.read(place) as store:
            return list(store.documents())
    return formats.read(place)
