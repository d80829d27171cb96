"""ATLOP by graphs: what models/atlop.py does with torch.

The parts and what they are given stand in light/atlop_parts.py, from which they are exported.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from factloom.document import Document, Relation
from factloom.layouts.marked_documents import MarkedExample, make_batch, make_examples
from factloom.light.eight_bits import Precision, Runs
from factloom.light.opened import opened
from factloom.light.pairs import PairGraphs
from factloom.light.windows import TOKENS, merging, read_windows
from factloom.models import relation_decisions
from factloom.models.atlop_settings import AtlopSettings
from factloom.models.relation_decisions import (
    Margins,
    PairReading,
    asked_classes,
    decide,
    found_by,
)
from factloom.modules.devices import Numbers
from factloom.modules.marked_batch import MarkedBatch

# The layers of a model, by the names of their graphs.
PARTS = ("windows", "entities", "pairs", "relations", "evidence")


@dataclass(frozen=True, slots=True)
class GraphLayers:
    """The layers of a model as graphs."""

    graphs: Mapping[str, Runs]

    def margins(self, batch: MarkedBatch[Numbers]) -> Margins:
        """What is said of the pairs of entities."""
        windows = batch.windows
        tokens = {"token_ids": windows.token_ids}
        window_states, query, key = read_windows(self.graphs["windows"], windows.mask, tokens)
        given = {
            **merging(windows),
            "window_states": window_states,
            "query": query,
            "key": key,
            "mask": windows.mask,
            "queries": windows.query,
            "query_index": windows.query_index,
            "query_row": windows.query_row,
            "mention_document": batch.mention_document,
            "mention_slot": batch.mention_slot,
            "mention_entity": batch.mention_entity,
            "entity_document": np.repeat(np.arange(len(batch.entity_counts)), batch.entity_counts),
        }
        parts, attention, states = self.graphs["entities"].run(given)
        return PairGraphs(self.graphs).said(parts, attention, states, batch)


class LightAtlop:
    """A component that does what the model in a folder does, without torch."""

    task: ClassVar[str] = "relations"

    def __init__(self, path: Path, config: Mapping[str, Any], precision: Precision) -> None:
        model = opened(path, config, precision, PARTS)
        self.settings = AtlopSettings(**config["settings"])
        self.relations = tuple(config["relations"])
        self.relation_names = dict(config["relation_names"])
        self.provenance = config["provenance"]
        self.temperature = float(model.weights["temperature"])
        self.encoder = model.reader
        self._layers = GraphLayers(model.graphs)

    def predict(
        self, documents: Iterable[Document], *, batch_tokens: int = TOKENS
    ) -> list[Document]:
        """The documents with their relations replaced by predicted ones."""
        return relation_decisions.predict(
            self, documents, self._prepare, self._relations_of, batch_tokens
        )

    def _prepare(self, documents: list[Document]) -> list[MarkedExample]:
        return make_examples(documents, self.encoder, self.relations, self.settings.marker)

    def _relations_of(
        self, documents: Sequence[Document], examples: Sequence[MarkedExample]
    ) -> list[tuple[Relation, ...]]:
        """The relations of documents that are scored together."""
        asked = asked_classes(self, documents, examples)
        batch = replace(make_batch(examples, self.encoder, len(self.relations)), asked=asked)
        said = self._layers.margins(batch)
        reading = PairReading(said.margins, batch.slot_sentence, said.rows, found_by("atlop"))
        return decide(self, documents, examples, reading)


LIGHT = LightAtlop
