"""Joint extraction by graphs: what models/joint.py does with torch.

The parts and what they are given stand in light/joint_parts.py, from which they are exported.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from factloom.document import Document
from factloom.layouts.joint_documents import EntityBatch, JointLayout
from factloom.layouts.word_documents import WordBatch
from factloom.light.eight_bits import Precision, Runs
from factloom.light.fields import field_scores
from factloom.light.opened import opened
from factloom.light.pairs import PairGraphs
from factloom.light.tokens import TextReader
from factloom.light.windows import TOKENS, merging, read_windows, slices
from factloom.models.joint_extraction import (
    JointExtraction,
    JointSettings,
    numbered,
    reference_words_of,
)
from factloom.models.relation_decisions import Margins
from factloom.models.tag_decisions import SCHEME
from factloom.models.weight_files import Arrays
from factloom.modules.devices import Numbers
from factloom.modules.linking import Linking
from factloom.modules.mention_batch import MentionBatch
from factloom.modules.reference_batch import ReferenceBatch
from factloom.text.tags import tag_names

_LINKS = 4096  # pairs of mentions that are scored at once


# The layers of a model, by the names of their graphs; the last one of those that resolve pronouns.
PARTS = ("windows", "words", "links", "entities", "pairs", "relations", "evidence")
REFERENCES = "references"


@dataclass(frozen=True, slots=True)
class GraphRead:
    """Some documents that the encoder has read."""

    emissions: Numbers  # (sentences, length, tags)
    known: dict[str, Numbers]  # states, queries, keys and windows, as the other graphs ask for them


@dataclass(frozen=True, slots=True)
class GraphLayers:
    """The layers of a model as graphs, for models/joint_extraction.py."""

    graphs: Mapping[str, Runs]

    def read(self, batch: WordBatch[Numbers]) -> GraphRead:
        windows = batch.windows
        tokens = {"token_ids": windows.token_ids, "shapes": batch.shapes}
        window_states, query, key = read_windows(self.graphs["windows"], windows.mask, tokens)
        given = {
            **merging(windows),
            "window_states": window_states,
            "piece_slot": batch.piece_slot,
            "layout": batch.layout,
        }
        emissions, states = self.graphs["words"].run(given)
        read = {"states": states, "query": query, "key": key}
        return GraphRead(emissions, {**read, "mask": windows.mask, "slots": windows.slots})

    def links(self, read: GraphRead, batch: MentionBatch[Numbers]) -> Numbers:
        pairs = {
            "left": batch.left,
            "right": batch.right,
            "features": batch.features,
            "sentence_distance": batch.sentence_distance,
            "mention_distance": batch.mention_distance,
        }
        return _scored(self.graphs["links"], {**read.known, **_mentions(batch)}, pairs)

    def references(
        self, read: GraphRead, names: MentionBatch[Numbers], batch: ReferenceBatch[Numbers]
    ) -> Numbers:
        references = {
            "reference_slot": batch.token_slot,
            "token_reference": batch.token_reference,
            "group": batch.group,
        }
        pairs = {
            "reference": batch.reference,
            "name": batch.name,
            "described": batch.described,
            "sentence_distance": batch.sentence_distance,
            "name_distance": batch.name_distance,
        }
        given = {**read.known, **_mentions(names), **references}
        return _scored(self.graphs[REFERENCES], given, pairs)

    def margins(self, read: GraphRead, batch: EntityBatch[Numbers]) -> Margins:
        entities, windows = batch.entities, batch.entities.windows
        owner = np.repeat(np.arange(len(entities.entity_counts)), entities.entity_counts)
        given = {
            "queries": windows.query,
            "query_index": windows.query_index,
            "query_row": windows.query_row,
            "entity_mention": batch.entity_mention,
            "mention_entity": entities.mention_entity,
            "entity_document": owner,
        }
        parts, attention = self.graphs["entities"].run(
            {**read.known, **_mentions(batch.mentions), **given}
        )
        return PairGraphs(self.graphs).said(parts, attention, read.known["states"], entities)


def _scored(graph: Runs, given: Mapping[str, Numbers], pairs: Mapping[str, Numbers]) -> Numbers:
    """(pairs,) what a graph says of pairs, some at a time: each of `pairs` begins with (pairs,)."""
    count = len(next(iter(pairs.values())))
    found = [np.zeros(0, np.float32)]
    for chunk in slices(0, count, _LINKS):
        found += graph.run({**given, **{name: values[chunk] for name, values in pairs.items()}})
    return np.concatenate(found)


def _mentions(batch: MentionBatch[Numbers]) -> dict[str, Numbers]:
    return {
        "token_slot": batch.token_slot,
        "token_mention": batch.token_mention,
        "type": batch.type,
    }


class LightJoint:
    """A component that does what the model in a folder does, without torch."""

    task: ClassVar[str] = "end-to-end"

    def __init__(self, path: Path, config: Mapping[str, Any], precision: Precision) -> None:
        self._words = reference_words_of(config)
        parts = PARTS if self._words is None else (*PARTS, REFERENCES)
        model = opened(path, config, precision, parts)
        self.types = tuple(config["types"])
        self.relations = tuple(config["relations"])
        self.relation_names = dict(config["relation_names"])
        self.settings = JointSettings(**config["settings"])
        self.provenance = config["provenance"]
        self._extraction = self._around(GraphLayers(model.graphs), model.reader, model.weights)

    def _around(self, layers: GraphLayers, reader: TextReader, weights: Arrays) -> JointExtraction:
        tags = tuple(tag_names(self.types, SCHEME))
        types, relations = numbered(self.types), numbered(self.relations)
        labels = numbered(tags), SCHEME, types, relations
        scale = (float(weights[f"link_scale.{name}"]) for name in ("threshold", "temperature"))
        return JointExtraction(
            layers,
            JointLayout(reader, *labels, self.settings.reach, self._words),
            self.settings,
            tags,
            SCHEME,
            self.relations,
            field_scores(tags, SCHEME, weights),
            Linking(*scale),
            float(weights["mention_temperature"]),
            float(weights["temperature"]),
        )

    def predict(
        self, documents: Iterable[Document], *, batch_tokens: int = TOKENS
    ) -> list[Document]:
        """The documents with mentions, entities and relations found in their text."""
        return self._extraction.predict(documents, batch_tokens)

    def relate(
        self, documents: Iterable[Document], *, batch_tokens: int = TOKENS
    ) -> list[Document]:
        """The documents with the relations between the entities that they have already."""
        return self._extraction.relate(documents, batch_tokens)


LIGHT = LightJoint
