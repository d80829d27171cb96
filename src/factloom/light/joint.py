"""Joint extraction by graphs: what models/joint.py does with torch.

The parts and what they are given stand in light/joint_parts.py, from which they are exported.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from factloom.document import Document
from factloom.layouts.joint_documents import EntityBatch, JointLayout
from factloom.layouts.word_documents import WordBatch
from factloom.light.eight_bits import Precision
from factloom.light.opened import opened
from factloom.light.sessions import Graph
from factloom.light.tokens import TextReader
from factloom.light.windows import TOKENS, merging, read_windows, slices
from factloom.models.joint_extraction import JointExtraction, JointSettings, Margins, numbered
from factloom.models.tag_decisions import SCHEME
from factloom.models.weight_files import Arrays
from factloom.modules.chains import FieldScores, forbidden_out
from factloom.modules.class_groups import ClassGroup
from factloom.modules.devices import Numbers
from factloom.modules.linking import Linking
from factloom.modules.marked_batch import MarkedBatch
from factloom.modules.mention_batch import MentionBatch
from factloom.text.tags import allowed_transitions, tag_names

_LINKS = 4096  # pairs of mentions that are scored at once
_PAIRS = 256  # asked at once: their outer products stay in the processor's cache
_KEPT = 4096  # pairs whose vectors are in memory at once, before they are asked in groups


# The layers of a model, by the names of their graphs.
PARTS = ("windows", "words", "links", "entities", "pairs", "relations", "evidence")


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
        found = [np.zeros(0, np.float32)]
        for chunk in slices(0, len(batch.left), _LINKS):
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
        known = {"parts": parts, "attention": attention, "states": read.known["states"]}
        return Margins(self._margins(known, entities), partial(self._rows, attention))

    def _margins(self, known: dict[str, Numbers], pairs: MarkedBatch[Numbers]) -> Numbers:
        """(pairs, relations), minus infinity for what is not asked"""
        relations = pairs.labels.shape[1]
        asked = pairs.asked
        if asked is None:
            all_pairs = np.arange(len(pairs.pair_head))
            asked = (ClassGroup(all_pairs, np.arange(relations)),)
        found = np.full((len(pairs.pair_head), relations), -np.inf, np.float32)
        for first, heads, tails in self._ends(known, pairs):
            for group in asked:
                rows = group.between(first, first + len(heads))
                for part in slices(0, len(rows), _PAIRS):
                    own = rows[part] - first
                    given = {"head": heads[own], "tail": tails[own], "relations": group.relations}
                    (margins,) = self.graphs["relations"].run(given)
                    found[rows[part][:, None], group.relations] = margins
        return found

    def _ends(
        self, known: dict[str, Numbers], pairs: MarkedBatch[Numbers]
    ) -> Iterator[tuple[int, Numbers, Numbers]]:
        """z of heads and tails, (pairs, width) twice, of some pairs at a time; the first of them"""
        parts: list[list[Numbers]] = []
        first = kept = 0
        for given in _of_documents(known, pairs):
            parts.append(self.graphs["pairs"].run(given))
            kept += len(given["pair_head"])
            if kept >= _KEPT:
                heads, tails = _joined(parts)
                yield first, heads, tails
                first, kept, parts = first + kept, 0, []
        if parts:
            heads, tails = _joined(parts)
            yield first, heads, tails

    def _rows(self, attention: Numbers, heads: Numbers, tails: Numbers) -> Numbers:
        given = {"attention": attention, "first": heads, "second": tails}
        (rows,) = self.graphs["evidence"].run(given)
        return rows


def _of_documents(
    known: dict[str, Numbers], pairs: MarkedBatch[Numbers]
) -> Iterator[dict[str, Numbers]]:
    """What the graph of pairs is given: a few pairs of a document at a time, in their order."""
    of_entities = {name: known[name] for name in ("parts", "attention")}
    ends = np.cumsum([0, *pairs.unordered_counts])
    for states, (first, end) in zip(known["states"], pairwise(ends), strict=True):
        for some in slices(first, end, _PAIRS // 2):
            # both directions of a pair stand side by side
            own = slice(*np.searchsorted(pairs.pair_unordered, (some.start, some.stop)))
            yield {
                **of_entities,
                "document_states": states,
                "first": pairs.first[some],
                "second": pairs.second[some],
                "pair_unordered": pairs.pair_unordered[own] - some.start,
                "pair_head": pairs.pair_head[own],
                "pair_tail": pairs.pair_tail[own],
            }


def _joined(parts: list[list[Numbers]]) -> list[Numbers]:
    return [np.concatenate(found) for found in zip(*parts, strict=True)]


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
        model = opened(path, config, precision, PARTS)
        self.types = tuple(config["types"])
        self.relations = tuple(config["relations"])
        self.relation_names = dict(config["relation_names"])
        self.settings = JointSettings(**config["settings"])
        self.provenance = config["provenance"]
        self._extraction = self._around(GraphLayers(model.graphs), model.reader, model.weights)

    def _around(self, layers: GraphLayers, reader: TextReader, weights: Arrays) -> JointExtraction:
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


def _field(tags: tuple[str, ...], weights: Arrays) -> FieldScores:
    allowed = allowed_transitions(tags, SCHEME)
    masks = {"transitions": allowed.between, "start": allowed.start, "end": allowed.end}
    learned = {name: weights[f"field.{name}"].astype(np.float64) for name in masks}
    return FieldScores(*(forbidden_out(learned[name], mask) for name, mask in masks.items()))


LIGHT = LightJoint
