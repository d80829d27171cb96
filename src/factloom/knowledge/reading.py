"""An encoder that reads with knowledge: between two of its layers stands one that knows names.

    read_with(encoder, KnowledgeSettings(path="graph"))     # any model over it then knows

The names of the base are found in the tokens (token_names.py); what they may mean is read after
layer `after` by the knowledge attention of KnowBERT or by the entity memory of Entities as Experts
(modules/). It is no part of a model, but of its encoder: tagger, ATLOP, joint and all others have
it by one setting of a recipe, [encoder.knowledge]. It is learned with the model's own loss.

The base is looked at again when its files have changed, so that what a store learns is read.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn

from factloom.encoders.between_layers import layer_count
from factloom.encoders.encoder import Encoder
from factloom.files.data_path import data_path
from factloom.graph.knowledge_base import KnowledgeBase
from factloom.knowledge.beliefs import beliefs_by_names
from factloom.knowledge.entity_vectors import KnowledgeSource
from factloom.knowledge.offers import SIGNS, offer_of
from factloom.knowledge.reading_settings import KnowledgeSettings
from factloom.knowledge.token_names import TokenNames
from factloom.modules.entity_memory import EntityMemory
from factloom.modules.knowledge_attention import KnowledgeAttention, Offer, SpanCandidates
from factloom.modules.text_spans import TextSpans


class KnowledgeReader(nn.Module):
    """States and tokens of windows in, states that know of entities out."""

    def __init__(self, encoder: Encoder, settings: KnowledgeSettings) -> None:
        super().__init__()
        self.source = KnowledgeSource(settings.path, settings.describer)
        width = settings.width or self.source.width
        self.settings = settings.model_copy(update={"width": width})
        self.after = settings.after or max(1, layer_count(encoder.backbone) // 3)
        self.layer: KnowledgeAttention | EntityMemory = (
            # no candidate is refused: without links to learn from nothing teaches a threshold
            KnowledgeAttention(
                encoder.width, width, signs=tuple(SIGNS.values()), threshold=-math.inf
            )
            if settings.layer == "attention"
            else EntityMemory(encoder.width, width)
        )
        self.known = _Known(encoder, self.source, self.settings.most)

    def options(self) -> dict[str, object]:
        """What `read_with` is given to make the same."""
        return self.settings.model_dump()

    def forward(self, states: Tensor, token_ids: Tensor, mask: Tensor) -> Tensor:
        """(windows, window length, width)"""
        self.known.refresh()
        rows = [
            ids[: int(count)]
            for ids, count in zip(token_ids.tolist(), mask.sum(1).tolist(), strict=True)
        ]
        spans, names = self.known.spans(rows)
        spans = spans.to(states.device)
        if isinstance(self.layer, EntityMemory):
            table = self.known.table().to(states.device)
            return cast(Tensor, self.layer(states, spans, table, self.settings.most)[0])
        known = self.known.candidates(spans, names).to(states.device)
        return cast(Tensor, self.layer(states, known)[0])


class _Known:
    """The names of a base, and what they may mean, as of the last look at it."""

    def __init__(self, encoder: Encoder, source: KnowledgeSource, most: int) -> None:
        self._encoder = [encoder]  # in a list: no part of the layer
        self.source = source
        self.most = most
        self._seen: tuple[KnowledgeBase | None, tuple[object, ...]] | None = None
        self._offers: dict[str, Offer] = {}
        self._table: Tensor | None = None

    def refresh(self) -> None:
        """Look at the base again, if it is another than before."""
        base, files = self.source.base, _stamp(Path(data_path(self.source.path)))
        if self._seen is not None and self._seen[0] is base and self._seen[1] == files:
            return
        self._offers, self._table = {}, None
        with self.source.opened() as base:
            entities = (base.entity(each) for each in base.ids())
            names = dict.fromkeys(name for entity in entities for name in entity.names)
            self.names = TokenNames(self._encoder[0], names)
        self._seen = base, files  # the base itself: another one may get its id when it is gone

    def spans(self, rows: Sequence[Sequence[int]]) -> tuple[TextSpans, list[str]]:
        found = [(row, *each) for row, ids in enumerate(rows) for each in self.names.find(ids)]
        places = [[each[column] for each in found] for column in (0, 1, 2)]
        spans = TextSpans(*(torch.tensor(part, dtype=torch.long) for part in places))
        return spans, [each[3] for each in found]

    def candidates(self, spans: TextSpans, names: Sequence[str]) -> SpanCandidates:
        new = [name for name in dict.fromkeys(names) if name not in self._offers]
        if new:
            with self.source.opened() as base:
                self._offers |= {name: self._offer(base, name) for name in new}
        offers = [self._offers[name] for name in names]
        return SpanCandidates.of(spans, self.source.entities.vectors, offers, len(SIGNS))

    def _offer(self, base: KnowledgeBase, name: str) -> Offer:
        return offer_of(self.source, base, beliefs_by_names(base, {name: 1}, most=self.most))

    def table(self) -> Tensor:
        """(entities, entity width)"""
        if self._table is None:
            with self.source.opened() as base:
                vectors = self.source.memory(base).vectors
            self._table = torch.from_numpy(vectors * vectors.shape[1] ** 0.25)
        return self._table


def read_with(encoder: Encoder, settings: KnowledgeSettings) -> Encoder:
    """The encoder, which reads with knowledge from now on."""
    encoder.between = KnowledgeReader(encoder, settings)
    return encoder


def _stamp(path: Path) -> tuple[object, ...]:
    """What changes when the files of a base do; folders in it are those of its readers."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return tuple(part for file in files if file.is_file() for part in _state(file))


def _state(file: Path) -> tuple[object, ...]:
    try:
        found = file.stat()
    except OSError:  # it went while we looked
        return ()
    return file.name, found.st_mtime_ns, found.st_size
