"""The layers of a joint model in torch, as models/joint_extraction.py asks for them."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from numpy.typing import NDArray

from factloom.encoders.encoder import Reading
from factloom.layouts.joint_documents import EntityBatch
from factloom.layouts.word_documents import WordBatch
from factloom.models import relation_decoding
from factloom.models.relation_decisions import Margins
from factloom.modules.decisions import Floats
from factloom.modules.devices import Numbers
from factloom.modules.evaluating import evaluating
from factloom.modules.mention_batch import MentionBatch
from factloom.modules.mention_pairs import mention_states
from factloom.modules.numbers import numbers_of
from factloom.modules.reference_batch import ReferenceBatch

if TYPE_CHECKING:
    from factloom.models.joint import Joint


@dataclass(frozen=True, slots=True)
class TensorRead:
    """Some documents that the encoder has read."""

    emissions: NDArray[Any]  # (sentences, length, tags)
    reading: Reading


@dataclass(frozen=True, slots=True)
class TensorLayers:
    """Numbers in, numbers out."""

    model: "Joint"

    @torch.inference_mode()
    def read(self, batch: WordBatch[Numbers]) -> TensorRead:
        words = batch.to(self.model.temperature.device)
        with evaluating(self.model):
            reading = self.model._read(words)
            return TensorRead(numbers_of(self.model._emissions(reading, words)), reading)

    @torch.inference_mode()
    def links(self, read: TensorRead, batch: MentionBatch[Numbers]) -> Floats:
        mentions = batch.to(self.model.temperature.device)
        with evaluating(self.model):
            states = mention_states(read.reading.states, mentions)
            return numbers_of(self.model.links(states, mentions))

    @torch.inference_mode()
    def references(
        self, read: TensorRead, names: MentionBatch[Numbers], batch: ReferenceBatch[Numbers]
    ) -> Floats:
        device = self.model.temperature.device
        with evaluating(self.model):
            states = read.reading.states
            both = names.to(device), batch.to(device)
            return numbers_of(self.model.reference_scores(states, *both))

    @torch.inference_mode()
    def margins(self, read: TensorRead, batch: EntityBatch[Numbers]) -> Margins:
        known = batch.to(self.model.temperature.device)
        with evaluating(self.model):
            states = mention_states(read.reading.states, known.mentions)
            scores = self.model._score(read.reading, states, known)
        margins = numbers_of(self.model.rule.margins(scores.logits))
        return Margins(margins, partial(relation_decoding.attention_rows, scores.attention))
