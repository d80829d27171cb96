"""Tagger: a tag a word from any pretrained encoder, by softmax or by a conditional random field.

Devlin, Chang, Lee, Toutanova: BERT, NAACL 2019, arXiv 1810.04805 (softmax over the tags of each
word's first token); Lample, Ballesteros, Subramanian, Kawakami, Dyer: Neural Architectures for
Named Entity Recognition, NAACL 2016, arXiv 1603.01360 (the random field).

    input     word embeddings of the encoder + W shape(token), W = 0 at first (text/shapes.py)
    states    the encoder's, over the whole document
    word      h_w = state of its first token, or the mean of all its tokens
    tags      e_w = U dropout(h_w) + b,   p(y) by modules/crf.py or modules/independent_tags.py
    decision  the most probable sequence of tags of each sentence
    score     the probability that exactly these tags stand on the mention's words, made honest by
              a temperature on its logit (models/sequence_decoding.py)

Whatever scheme a file has, inside it is `scheme`. Tags are flat: of nested mentions the outermost
is learned.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, cast

import torch
from torch import Tensor, nn

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.layouts.word_documents import (
    WordBatch,
    WordExample,
    make_batch,
    make_examples,
)
from factloom.layouts.word_shapes import embedded_shapes, hide_some, shape_projection
from factloom.models import PlainOutput, sequence_decoding, storage
from factloom.models.tag_decisions import types_to_learn
from factloom.models.tagger_settings import TaggerSettings
from factloom.models.whole_annotation import require_whole_annotation
from factloom.modules.crf import ConditionalRandomField
from factloom.modules.independent_tags import IndependentTags
from factloom.modules.pooling import segment_mean
from factloom.text.tags import Scheme, allowed_transitions, marks_ends, tag_names


class Tagger(nn.Module):
    """Mentions that do not overlap, each with a type and a score.

    >>> model = Tagger(Encoder.load("all-MiniLM-L6-v2"), ["LOC", "PER"])  # doctest: +SKIP
    """

    task: ClassVar[str] = "mentions"
    settings: TaggerSettings
    temperature: Tensor  # of the scores; fitted on dev after training

    def __init__(
        self,
        encoder: Encoder,
        types: Sequence[str],
        settings: TaggerSettings | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings or TaggerSettings()
        self.scheme: Scheme = self.settings.scheme
        self.types = tuple(types)
        self.tags = tuple(tag_names(self.types, self.scheme))
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.shape = shape_projection(encoder) if self.settings.shapes else None
        self.dropout = nn.Dropout(self.settings.dropout)
        self.classifier = nn.Linear(encoder.width, len(self.tags))
        self.field = self._field()
        self.register_buffer("temperature", torch.ones(()))

    def _field(self) -> ConditionalRandomField | IndependentTags:
        if self.settings.output == "softmax":
            return IndependentTags()
        allowed = allowed_transitions(self.tags, self.scheme)
        masks = (allowed.between, allowed.start, allowed.end)
        return ConditionalRandomField(len(self.tags), *map(torch.from_numpy, masks))

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder,
        documents: Sequence[Document],
        settings: TaggerSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        """An untrained model for the types that the documents' mentions have."""
        if not marks_ends(settings.scheme):  # beside an unknown word a mention's end is unknown
            require_whole_annotation(documents, f"tagger, scheme {settings.scheme}")
        return cls(encoder, types_to_learn(documents), settings)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[WordExample]:
        """Find words, tokens and tags of documents, once."""
        return make_examples(list(documents), self.encoder, self.tags, self.scheme)

    def collate(self, examples: Sequence[WordExample]) -> WordBatch:
        batch = make_batch(examples, self.encoder, whole_words=self.settings.word == "mean")
        return batch.to("cpu")

    def forward(self, batch: WordBatch) -> PlainOutput:
        """The loss is the negative log likelihood of the tags, over the number of words."""
        logits = self._logits(batch)
        likelihood = self.field.log_likelihood(batch.laid_out(logits), batch.tags, batch.lengths)
        return PlainOutput(logits, -likelihood.sum() / batch.weight)

    def emissions(self, batch: WordBatch) -> Tensor:
        """(sentences, length, tags)"""
        return batch.laid_out(self._logits(batch))

    def _logits(self, batch: WordBatch) -> Tensor:
        """(words, tags)"""
        windows = batch.windows
        if self.training and self.settings.hidden_words:
            windows = hide_some(batch, self.settings.hidden_words, self.encoder.mask_token)
        states = self.encoder.states(windows, embedded_shapes(self.shape, batch.shapes))
        return self.scored(states, batch.piece_slot, batch.piece_word, batch.words)

    def scored(self, states: Tensor, piece_slot: Tensor, piece_word: Tensor, count: int) -> Tensor:
        """(documents, length, width) -> (words, tags), of so many words."""
        words = states.flatten(0, 1).index_select(0, piece_slot)  # (pieces, width)
        if self.settings.word == "mean":
            words = segment_mean(words, piece_word, count)  # (words, width)
        return cast(Tensor, self.classifier(self.dropout(words)))

    # --- prediction ----------------------------------------------------------------------------

    predict, predict_sure = sequence_decoding.predict, sequence_decoding.predict_sure
    fit_scores = sequence_decoding.fit_scores

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {"types": self.types, "settings": self.settings.model_dump()}

    @classmethod
    def from_config(cls, encoder: Encoder, config: Mapping[str, Any]) -> Self:
        return cls(encoder, config["types"], TaggerSettings(**config["settings"]))

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


MODEL, SETTINGS = Tagger, TaggerSettings
