"""Joint extraction by graphs: what models/joint.py does with torch.

The parts and what they are given stand in light/joint_parts.py, from which they are exported.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from factloom.document import Document
from factloom.encoders.pretrained import resolve
from factloom.layouts.joint_documents import EntityBatch, JointLayout
from factloom.layouts.word_documents import WordBatch
from factloom.light.folder import read_description
from factloom.light.reader import LightReader
from factloom.light.sessions import Graph, open_graphs
from factloom.light.weights import read_weights
from factloom.models.joint_extraction import JointExtraction, JointSettings, Margins, numbered
from factloom.models.tag_decisions import SCHEME
from factloom.models.weight_files import ENCODER, Arrays
from factloom.modules.chains import FieldScores, forbidden_out
from factloom.modules.devices import Numbers
from factloom.modules.linking import Linking
from factloom.modules.mention_batch import CHUNK, MentionBatch
from factloom.text.tags import allowed_transitions, tag_names

_PAIRS = 128  # unordered pairs asked at once: their outer products stay in the processor's cache


@dataclass(frozen=True, slots=True)
class GraphRead:
    """Some documents that the encoder has read."""

    emissions: Numbers  # (sentences, length, tags)
    known: dict[str, Numbers]  # states, queries, keys and windows, as the other graphs ask for them


@dataclass(frozen=True, slots=True)
class GraphLayers:
    """The layers of a model as graphs, for models/joint_extraction.py."""

    graphs: Mapping[str, Graph]

    def read(self, batch: WordBatch[Numbers]) -> GraphRead:
        windows = batch.windows
        given = {
            "token_ids": windows.token_ids,
            "mask": windows.mask,
            "shapes": batch.shapes,
            "document": windows.document,
            "slots": windows.slots,
            "places": np.zeros((len(windows.lengths), windows.length), np.bool_),
            "piece_slot": batch.piece_slot,
            "layout": batch.layout,
        }
        emissions, states, query, key = self.graphs["words"].run(given)
        read = {"states": states, "query": query, "key": key}
        return GraphRead(emissions, {**read, "mask": windows.mask, "slots": windows.slots})

    def links(self, read: GraphRead, batch: MentionBatch[Numbers]) -> Numbers:
        found = [np.zeros(0, np.float32)]
        for start in range(0, len(batch.left), CHUNK):
            chunk = slice(start, start + CHUNK)
            pairs = {
                "left": batch.left[chunk],
                "right": batch.right[chunk],
                "features": batch.features[chunk],
                "sentence_distance": batch.sentence_distance[chunk],
                "mention_distance": batch.mention_distance[chunk],
            }
            found += self.graphs["links"].run({**read.known, **_mentions(batch), **pairs})
        return np.concatenate(found)

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
        known = {"parts": parts, "attention": attention}
        found = self._pairs(known, read.known["states"], batch)
        return Margins(found, partial(self._rows, attention))

    def _pairs(
        self, known: dict[str, Numbers], states: Numbers, batch: EntityBatch[Numbers]
    ) -> Numbers:
        """(pairs, relations) a few pairs of a document at a time"""
        found, pairs = [], batch.entities
        ends = np.cumsum([0, *pairs.unordered_counts])
        for document, (first, end) in enumerate(pairwise(ends)):
            for start in range(first, end, _PAIRS):
                stop = min(start + _PAIRS, end)
                # both directions of a pair stand side by side
                own = slice(*np.searchsorted(pairs.pair_unordered, (start, stop)))
                given = {
                    "document_states": states[document],
                    "first": pairs.first[start:stop],
                    "second": pairs.second[start:stop],
                    "pair_unordered": pairs.pair_unordered[own] - start,
                    "pair_head": pairs.pair_head[own],
                    "pair_tail": pairs.pair_tail[own],
                }
                found += self.graphs["pairs"].run({**known, **given})
        return np.concatenate(found)

    def _rows(self, attention: Numbers, heads: Numbers, tails: Numbers) -> Numbers:
        given = {"attention": attention, "first": heads, "second": tails}
        (rows,) = self.graphs["evidence"].run(given)
        return rows


def _mentions(batch: MentionBatch[Numbers]) -> dict[str, Numbers]:
    return {
        "token_slot": batch.token_slot,
        "token_mention": batch.token_mention,
        "type": batch.type,
    }


class LightJoint:
    """A component that does what the model in a folder does, without torch."""

    task: ClassVar[str] = "end-to-end"

    def __init__(self, path: Path, config: Mapping[str, Any]) -> None:
        description = read_description(path)
        weights = read_weights(path, dict(config))
        self.types = tuple(config["types"])
        self.relations = tuple(config["relations"])
        self.relation_names = dict(config["relation_names"])
        self.settings = JointSettings(**config["settings"])
        self.provenance = config["provenance"]
        base = Path(resolve(config["base"])) if "base" in config else path / ENCODER
        reader = LightReader(base, description.special.special, config["encoder"])
        layers = GraphLayers(open_graphs(path, description, weights))
        self._extraction = self._around(layers, reader, weights)

    def _around(self, layers: GraphLayers, reader: LightReader, weights: Arrays) -> JointExtraction:
        tags = tuple(tag_names(self.types, SCHEME))
        types, relations = numbered(self.types), numbered(self.relations)
        scale = (float(weights[f"link_scale.{name}"]) for name in ("threshold", "temperature"))
        return JointExtraction(
            layers,
            JointLayout(reader, numbered(tags), SCHEME, types, relations, self.settings.reach),
            self.settings,
            tags,
            SCHEME,
            self.relations,
            _field(tags, weights),
            Linking(*scale),
            float(weights["mention_temperature"]),
            float(weights["temperature"]),
        )

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with mentions, entities and relations found in their text."""
        return self._extraction.predict(documents, batch_tokens)

    def relate(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with the relations between the entities that they have already."""
        return self._extraction.relate(documents, batch_tokens)


def _field(tags: tuple[str, ...], weights: Arrays) -> FieldScores:
    allowed = allowed_transitions(tags, SCHEME)
    masks = {"transitions": allowed.between, "start": allowed.start, "end": allowed.end}
    learned = {name: weights[f"field.{name}"].astype(np.float64) for name in masks}
    return FieldScores(*(forbidden_out(learned[name], mask) for name, mask in masks.items()))
