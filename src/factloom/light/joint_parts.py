"""The layers of a joint model in the parts that are exported as graphs.

    windows   token_ids, shapes               -> their states, the last queries and keys
    words     states of windows               -> emissions, states of documents
    links     states, mentions, pairs of them -> their scores
    references states, mentions, references   -> scores of what these may stand for
    entities  states, queries, keys, mentions -> what entities say of pairs, and their attention
    pairs, relations, evidence                   light/pair_parts.py

Each is a few calls of the model's own modules. light/joint.py runs them, a few windows and a few
pairs at a time.
"""

from collections.abc import Mapping
from typing import cast

from torch import Tensor

from factloom.encoders.attention import AttentionRecord, record_attention
from factloom.encoders.encoder import Reading
from factloom.layouts.word_documents import WordBatch
from factloom.light.eight_bits import Runs
from factloom.light.joint import REFERENCES, GraphLayers
from factloom.light.pair_parts import PAIR_PARTS, PAIR_SIZES
from factloom.light.parts import Exported, Part, Parts, Sizes, windows_of
from factloom.light.samples import named_samples
from factloom.models.joint import Joint
from factloom.modules.devices import Numbers
from factloom.modules.mention_batch import MentionBatch
from factloom.modules.mention_pairs import mention_states
from factloom.modules.pooling import segment_mean
from factloom.modules.reference_batch import ReferenceBatch
from factloom.modules.windows import mean_rows, mean_states


class _Part(Part):
    model: Joint


class Windows(_Part):
    outputs = ("window_states", "query", "key")

    def forward(self, token_ids: Tensor, shapes: Tensor) -> tuple[Tensor, ...]:
        """Of windows that are full: nothing is masked."""
        with record_attention() as record:
            added = self.model.shape(shapes.to(self.model.shape.weight.dtype))
            found = self.model.encoder.window_states(windows_of(token_ids), added)
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
        windows, none = windows_of(slots), piece_slot
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
        none = type
        names = _unpaired(token_slot, token_mention, type)
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
        batch = _unpaired(token_slot, token_mention, type)
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


def _unpaired(token_slot: Tensor, token_mention: Tensor, type: Tensor) -> MentionBatch:
    """Mentions of which no pairs are asked."""
    none = type
    pairs = none, none, none, none, none, none
    return MentionBatch(token_slot, token_mention, type, *pairs, ())


_PARTS: Parts = {
    "windows": Windows,
    "words": Words,
    "links": Links,
    "entities": Entities,
    **PAIR_PARTS,
}


def parts_of(model: Joint) -> Parts:
    return _PARTS if model.references is None else {**_PARTS, REFERENCES: References}


# Beside those that several kinds have.
SIZES: Sizes = {
    **PAIR_SIZES,
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
    "entity_mention": ("entity_mentions",),
    "mention_entity": ("entity_mentions",),
}


def _read_samples(model: Joint, graphs: Mapping[str, Runs], repeated: int) -> list[Numbers]:
    """What the layers say of documents whose entities are known."""
    extraction = model.extraction()
    documents = named_samples(model.encoder, model.types, repeated)
    layers, layout = GraphLayers(graphs), extraction.layout
    tokens = layout.encoder.tokenize([document.text for document in documents])
    pairs = list(zip(documents, tokens, strict=True))
    words = layout.word_batch([layout.words(d.without_mentions(), own) for d, own in pairs])
    mentions = [layout.mentions(*pair) for pair in pairs]
    known = [layout.known(*pair, own) for pair, own in zip(pairs, mentions, strict=True)]
    read = layers.read(words)
    links = layers.links(read, layout.mention_batch(mentions, words.windows.length))
    batch = layout.entity_batch(known)
    said = layers.margins(read, batch)
    ends = batch.entities.pair_head, batch.entities.pair_tail
    found = [read.emissions, links, said.margins, said.rows(*ends)]
    if model.references is not None:
        references = [layout.references(*pair) for pair in pairs]
        length = words.windows.length
        given = layout.reference_batch(references, mentions, length)
        found.append(layers.references(read, layout.mention_batch(mentions, length), given))
    return found


EXPORT = Exported(parts_of, SIZES, _read_samples)
