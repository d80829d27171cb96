"""Coreference: which mentions of a document name the same thing.

Soon, Ng, Lim, CL 2001 (mention pairs); Lee, He, Lewis, Zettlemoyer, EMNLP 2017, arXiv 1707.07045
(span states). The scores of pairs: modules/mention_pairs.py; how they become entities:
models/entity_decoding.py.

    mention   h_m = mean state of its tokens, the encoder reading the bare text
    pair      a score from both mentions, their types, distance and how alike their names are
    loss      binary cross entropy over all pairs of mentions
    decision  average linkage down to a threshold

It reads documents whose mentions are known, and gives their entities.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.layouts import mention_documents
from factloom.layouts.batching import batches_by_length
from factloom.layouts.mention_documents import MentionExample
from factloom.models import PlainOutput, entity_decoding, storage
from factloom.models.tag_decisions import types_to_learn
from factloom.models.whole_annotation import require_whole_annotation
from factloom.modules.devices import moved
from factloom.modules.divergence import sigmoid_divergence
from factloom.modules.evaluating import evaluating
from factloom.modules.link_scale import LinkScale
from factloom.modules.linking import Floats
from factloom.modules.mention_batch import MentionBatch
from factloom.modules.mention_pairs import MentionPairScorer, mention_states
from factloom.modules.windows import WindowBatch


class CoreferenceSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hidden: PositiveInt = Field(256, description="Size of the hidden layer of the pair scorer.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of that layer.")
    reach: PositiveInt = Field(
        400, description="Mentions further apart are compared by their names first."
    )


@dataclass(frozen=True, slots=True)
class CoreferenceBatch:
    windows: WindowBatch
    mentions: MentionBatch

    @property
    def weight(self) -> int:
        """How many terms the loss averages over."""
        return len(self.mentions.left)

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


class Coreference(nn.Module):
    """Entities of documents whose mentions are known.

    >>> model = Coreference(Encoder.load("all-MiniLM-L6-v2"), ["LOC", "PER"])  # doctest: +SKIP
    """

    task: ClassVar[str] = "entities"
    divergence = staticmethod(sigmoid_divergence)  # of two logits: a pair is linked or not
    settings: CoreferenceSettings

    def __init__(
        self, encoder: Encoder, types: Sequence[str], settings: CoreferenceSettings | None = None
    ) -> None:
        super().__init__()
        self.settings = settings or CoreferenceSettings()
        self.types = tuple(types)
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.scorer = MentionPairScorer(
            encoder.width, len(self.types) + 1, self.settings.hidden, self.settings.dropout
        )
        self.scale = LinkScale()

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: CoreferenceSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        """An untrained model for the types that the documents' mentions have."""
        require_whole_annotation(documents, "coreference")
        return cls(encoder, types_to_learn(documents), settings)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[MentionExample]:
        """Find the tokens and pairs of mentions, once."""
        all_documents = list(documents)
        tokenised = self.encoder.tokenize([document.text for document in all_documents])
        number = {name: index for index, name in enumerate(self.types)}
        return [
            mention_documents.make_example(document, tokens, number, self.settings.reach)
            for document, tokens in zip(all_documents, tokenised, strict=True)
        ]

    def collate(self, examples: Sequence[MentionExample]) -> CoreferenceBatch:
        windows = self.encoder.batch([example.token_ids for example in examples])
        before = len(self.encoder.special.before)
        mentions = mention_documents.make_batch(examples, before, windows.length).to("cpu")
        return CoreferenceBatch(windows, mentions)

    def score(self, batch: CoreferenceBatch) -> Tensor:
        """(pairs,)"""
        states = self.encoder.states(batch.windows)  # (documents, length, width)
        mentions = mention_states(states, batch.mentions)
        return cast(Tensor, self.scorer(mentions, batch.mentions))

    def forward(self, batch: CoreferenceBatch) -> PlainOutput:
        logits = self.score(batch)
        same = batch.mentions.same.to(logits.dtype)
        loss = F.binary_cross_entropy_with_logits(logits, same)
        return PlainOutput(logits.unsqueeze(1), loss)

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with their mentions clustered into entities, and no relations."""
        all_documents = list(documents)
        examples = self.prepare(all_documents)
        return [
            entity_decoding.with_entities(document, example, scores, self.scale.linking)
            for document, example, scores in zip(
                all_documents, examples, self._scores(examples, batch_tokens), strict=True
            )
        ]

    @torch.inference_mode()
    def _scores(self, examples: Sequence[MentionExample], batch_tokens: int) -> list[Floats]:
        """(pairs,) of each document; those without a pair are not read at all"""
        of_documents: list[Floats] = [np.zeros(0)] * len(examples)
        with evaluating(self):
            for numbers in batches_by_length(examples, batch_tokens):
                batch = self.collate([examples[number] for number in numbers])
                scores = self.score(batch.to(self.scale.threshold.device)).cpu().numpy()
                parts = np.split(scores, np.cumsum(batch.mentions.pair_counts)[:-1])
                for number, part in zip(numbers, parts, strict=True):
                    of_documents[number] = part
        return of_documents

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set threshold and temperature by documents that were not trained on."""
        examples = self.prepare(documents)
        scores = self._scores(examples, 4096)
        linking, told = entity_decoding.fit_links(documents, examples, scores)
        self.scale.keep(linking)
        return told

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"types": self.types, "settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        return cls(encoder, config["types"], CoreferenceSettings(**config["settings"]))

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


MODEL, SETTINGS = Coreference, CoreferenceSettings
