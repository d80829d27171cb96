"""The layers of ATLOP in the parts that are exported as graphs.

    windows   token_ids                            -> their states, the last queries and keys
    entities  states, queries, keys, mentions      -> what entities say of pairs, their attention
    pairs, relations, evidence                        light/pair_parts.py

Each is a few calls of the model's own modules. light/atlop.py runs them.
"""

from collections.abc import Mapping
from typing import cast

from torch import Tensor

from factloom.encoders.attention import AttentionRecord, record_attention
from factloom.layouts.marked_documents import make_batch, make_examples
from factloom.light.atlop import GraphLayers
from factloom.light.eight_bits import Runs
from factloom.light.pair_parts import PAIR_PARTS, PAIR_SIZES
from factloom.light.parts import Exported, Part, Sizes, windows_of
from factloom.light.samples import named_samples
from factloom.models.atlop import Atlop
from factloom.modules.devices import Numbers
from factloom.modules.windows import mean_rows, mean_states


class _Part(Part):
    model: Atlop


class Windows(_Part):
    outputs = ("window_states", "query", "key")

    def forward(self, token_ids: Tensor) -> tuple[Tensor, ...]:
        """Of windows that are full: nothing is masked."""
        with record_attention() as record:
            found = self.model.encoder.window_states(windows_of(token_ids))
        return found, cast(Tensor, record.query), cast(Tensor, record.key)


class Entities(_Part):
    outputs = ("parts", "attention", "states")

    def forward(
        self,
        window_states: Tensor,
        document: Tensor,
        slots: Tensor,
        places: Tensor,  # (documents, length) whose size alone is read
        query: Tensor,
        key: Tensor,
        mask: Tensor,
        queries: Tensor,
        query_index: Tensor,
        query_row: Tensor,
        mention_document: Tensor,
        mention_slot: Tensor,
        mention_entity: Tensor,
        entity_document: Tensor,  # (entities,) whose size alone is read
    ) -> tuple[Tensor, ...]:
        states = mean_states(window_states, document, slots, places.shape[0], places.shape[1])
        record = AttentionRecord(query, key, mask[:, None, None].bool(), query.shape[3] ** -0.5)
        count, length = mention_slot.shape[0], places.shape[1]
        rows = mean_rows(record.rows(queries), slots, query_index, query_row, count, length)
        mentions = states[mention_document, mention_slot]  # (mentions, width)
        entities = entity_document.shape[0]
        return *self.model.pairs.entities(mentions, rows, mention_entity, entities), states


PARTS: Mapping[str, type[Part]] = {"windows": Windows, "entities": Entities, **PAIR_PARTS}

SIZES: Sizes = {
    **PAIR_SIZES,
    "mention_document": ("mentions",),
    "mention_slot": ("mentions",),
    "mention_entity": ("mentions",),
}


def _read_samples(model: Atlop, graphs: Mapping[str, Runs], repeated: int) -> list[Numbers]:
    """What the layers say of documents whose entities are known."""
    documents = named_samples(model.encoder, ["X"], repeated)
    examples = make_examples(documents, model.encoder, model.relations, model.settings.marker)
    batch = make_batch(examples, model.encoder, len(model.relations))
    said = GraphLayers(graphs).margins(batch)
    return [said.margins, said.rows(batch.pair_head, batch.pair_tail)]


EXPORT = Exported(lambda _: PARTS, SIZES, _read_samples)
