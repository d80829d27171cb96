"""The layers of a joint model in the parts that are exported as graphs.

    windows   token_ids, shapes               -> their states, the last queries and keys
    words     states of windows               -> emissions, states of documents
    links     states, mentions, pairs of them -> their scores
    references states, mentions, references   -> scores of what these may stand for
    entities  states, queries, keys, mentions -> what entities say of pairs, and their attention
    pairs     entities, pairs of a document   -> z of heads and tails
    relations z of heads and tails, relations -> margins of these relations
    evidence  attention of entities, pairs    -> q, where what both look at lies

Each is a few calls of the model's own modules. light/joint.py runs them, a few windows and a few
pairs at a time.
"""

from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from factloom.encoders.attention import AttentionRecord, record_attention
from factloom.encoders.encoder import Reading
from factloom.layouts.word_documents import WordBatch
from factloom.light.joint import REFERENCES
from factloom.models.joint import Joint
from factloom.modules.localized_context import pair_attention
from factloom.modules.mention_batch import MentionBatch
from factloom.modules.mention_pairs import mention_states
from factloom.modules.pooling import segment_mean
from factloom.modules.reference_batch import ReferenceBatch
from factloom.modules.windows import WindowBatch, mean_rows, mean_states


class _Part(nn.Module):
    """Arguments are named as in `forward`; outputs as in `outputs`."""

    outputs: tuple[str, ...]

    def __init__(self, model: Joint) -> None:
        super().__init__()
        self.model = model


class Windows(_Part):
    outputs = ("window_states", "query", "key")

    def forward(self, token_ids: Tensor, shapes: Tensor) -> tuple[Tensor, ...]:
        """Of windows that are full: nothing is masked."""
        with record_attention() as record:
            added = self.model.shape(shapes.to(self.model.shape.weight.dtype))
            found = self.model.encoder.window_states(_windows(token_ids), added)
        return found, cast(Tensor, record.query), cast(Tensor, record.key)


class Words(_Part):
    outputs = ("emissions", "states")

    def forward(
        self,
        window_states: Tensor,
        document: Tensor,
        slots: Tensor,
        places: Tensor,  # (documents, length) whose size alone is read
        piece_slot: Tensor,
        layout: Tensor,
    ) -> tuple[Tensor, Tensor]:
        states = mean_states(window_states, document, slots, places.shape[0], places.shape[1])
        windows, none = _windows(slots), piece_slot
        batch = WordBatch(windows, slots, none, piece_slot, 0, layout, layout, layout)
        return self.model._emissions(Reading(states, AttentionRecord()), batch), states


class Links(_Part):
    outputs = ("scores",)

    def forward(
        self,
        states: Tensor,
        token_slot: Tensor,
        token_mention: Tensor,
        type: Tensor,
        left: Tensor,
        right: Tensor,
        features: Tensor,
        sentence_distance: Tensor,
        mention_distance: Tensor,
    ) -> Tensor:
        pairs = left, right, features, sentence_distance, mention_distance
        batch = MentionBatch(token_slot, token_mention, type, *pairs, left, ())
        found: Tensor = self.model.links(mention_states(states, batch), batch)
        return found


class References(_Part):
    outputs = ("scores",)

    def forward(
        self,
        states: Tensor,
        token_slot: Tensor,
        token_mention: Tensor,
        type: Tensor,
        reference_slot: Tensor,
        token_reference: Tensor,
        group: Tensor,
        reference: Tensor,
        name: Tensor,
        described: Tensor,
        sentence_distance: Tensor,
        name_distance: Tensor,
    ) -> Tensor:
        none = type  # no pairs of mentions are asked here
        pairs = none, none, none, none, none, none
        names = MentionBatch(token_slot, token_mention, type, *pairs, ())
        distances = sentence_distance, name_distance
        batch = ReferenceBatch(
            reference_slot, token_reference, group, reference, name, described, *distances,
            right=none, known=none, pair_counts=(),
        )  # fmt: skip
        return self.model.reference_scores(states, names, batch)


class Entities(_Part):
    outputs = ("parts", "attention")

    def forward(
        self,
        states: Tensor,
        query: Tensor,
        key: Tensor,
        mask: Tensor,
        slots: Tensor,
        queries: Tensor,
        query_index: Tensor,
        query_row: Tensor,
        token_slot: Tensor,
        token_mention: Tensor,
        type: Tensor,
        entity_mention: Tensor,
        mention_entity: Tensor,
        entity_document: Tensor,  # (entities,) whose size alone is read
    ) -> tuple[Tensor, Tensor]:
        none = type  # no pairs of mentions are asked here
        pairs = none, none, none, none, none, none
        batch = MentionBatch(token_slot, token_mention, type, *pairs, ())
        record = AttentionRecord(query, key, mask[:, None, None].bool(), query.shape[3] ** -0.5)
        count, length = token_mention.shape[0], states.shape[1]
        rows = mean_rows(record.rows(queries), slots, query_index, query_row, count, length)
        attention = segment_mean(rows, token_mention, batch.mentions)
        return self.model.pairs.entities(
            mention_states(states, batch).index_select(0, entity_mention),
            attention.index_select(0, entity_mention),
            mention_entity,
            entity_document.shape[0],
        )


class Pairs(_Part):
    outputs = ("head", "tail")

    def forward(
        self,
        parts: Tensor,
        attention: Tensor,
        document_states: Tensor,
        first: Tensor,
        second: Tensor,
        pair_unordered: Tensor,
        pair_head: Tensor,
        pair_tail: Tensor,
    ) -> tuple[Tensor, Tensor]:
        context = pair_attention(attention, first, second) @ document_states
        return self.model.pairs.ends(parts, context, pair_unordered, pair_head, pair_tail)


class Relations(_Part):
    outputs = ("margins",)

    def forward(self, head: Tensor, tail: Tensor, relations: Tensor) -> Tensor:
        rule = self.model.rule
        threshold = torch.zeros_like(relations[:1])  # the class of the adaptive threshold
        classes = torch.cat([threshold, relations + rule.extra_classes])
        return rule.margins(self.model.classifier(head, tail, classes))


class Evidence(_Part):
    outputs = ("rows",)

    def forward(self, attention: Tensor, first: Tensor, second: Tensor) -> Tensor:
        return pair_attention(attention, first, second)


def _windows(token_ids: Tensor) -> WindowBatch:
    """As far as the encoder reads full ones."""
    none, everything = token_ids, cast(Tensor, None)
    return WindowBatch(token_ids, None, everything, None, None, none, none, (), none, none, none, 0)


_PARTS: Mapping[str, type[_Part]] = {
    "windows": Windows,
    "words": Words,
    "links": Links,
    "entities": Entities,
    "pairs": Pairs,
    "relations": Relations,
    "evidence": Evidence,
}


def parts_of(model: Joint) -> dict[str, type[_Part]]:
    """Those that the model has, by the names of their graphs."""
    resolving: dict[str, type[_Part]] = {} if model.references is None else {REFERENCES: References}
    return {**_PARTS, **resolving}


# The sizes that differ from call to call, by argument or output: names of its dimensions.
SIZES: Mapping[str, tuple[str | None, ...]] = {
    "token_ids": ("windows", "window_length"),
    "mask": ("windows", "window_length"),
    "shapes": ("windows", "window_length", None),
    "document": ("windows",),
    "slots": ("windows", "window_length"),
    "places": ("documents", "length"),
    "piece_slot": ("words",),
    "layout": ("sentences", "sentence_length"),
    "window_states": ("windows", "window_length", None),
    "emissions": ("sentences", "sentence_length", None),
    "states": ("documents", "length", None),
    "query": ("windows", None, "window_length", None),
    "key": ("windows", None, "window_length", None),
    "token_slot": ("mention_tokens",),
    "token_mention": ("mention_tokens",),
    "type": ("mentions",),
    "left": ("mention_pairs",),
    "right": ("mention_pairs",),
    "features": ("mention_pairs", None),
    "sentence_distance": ("mention_pairs",),
    "mention_distance": ("mention_pairs",),
    "scores": ("mention_pairs",),
    "reference_slot": ("reference_tokens",),
    "token_reference": ("reference_tokens",),
    "group": ("references",),
    "reference": ("mention_pairs",),
    "name": ("mention_pairs",),
    "described": ("mention_pairs",),
    "name_distance": ("mention_pairs",),
    "queries": ("windows", "queries"),
    "query_index": ("uses",),
    "query_row": ("uses",),
    "entity_mention": ("entity_mentions",),
    "mention_entity": ("entity_mentions",),
    "entity_document": ("entities",),
    "parts": ("entities", None),
    "attention": ("entities", None, "length"),
    "document_states": ("length", None),
    "first": ("unordered_pairs",),
    "second": ("unordered_pairs",),
    "pair_unordered": ("pairs",),
    "pair_head": ("pairs",),
    "pair_tail": ("pairs",),
    "head": ("pairs", None),
    "tail": ("pairs", None),
    "relations": ("relations",),
    "margins": ("pairs", "relations"),
    "rows": ("unordered_pairs", "length"),
}


class PartRunner:
    """Runs a part in torch as light/sessions.py runs its graph, and keeps what it was given."""

    def __init__(self, part: _Part) -> None:
        self.part = part
        names = type(part).forward.__annotations__
        self.names = [name for name in names if name != "return"]
        self.given: dict[str, Tensor] = {}

    def run(self, given: Mapping[str, Any]) -> list[Any]:
        self.given = {name: torch.from_numpy(given[name].copy()) for name in self.names}
        with torch.no_grad():
            found = self.part(**self.given)
        several = found if isinstance(found, tuple) else (found,)
        return [value.numpy() for value in several]
