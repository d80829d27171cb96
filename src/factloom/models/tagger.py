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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, cast

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor, nn

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.encoders.word_documents import (
    WordBatch,
    WordExample,
    hide_some,
    make_batch,
    make_examples,
    shape_projection,
)
from factloom.models import sequence_decoding, storage
from factloom.models.sequence_decoding import types_to_learn
from factloom.models.whole_annotation import require_whole_annotation
from factloom.modules.crf import ConditionalRandomField
from factloom.modules.independent_tags import IndependentTags
from factloom.modules.pooling import segment_mean
from factloom.text.tags import Scheme, allowed_transitions, marks_ends, tag_names


class TaggerSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scheme: Scheme = Field("BIOES", description="The tags inside; files may have any.")
    output: Literal["crf", "softmax"] = Field(
        "crf", description="A random field over the tags of a sentence, or each word alone."
    )
    word: Literal["first", "mean"] = Field(
        "first", description="Which of its tokens stand for a word."
    )
    shapes: bool = Field(
        True, description="Case, digits and signs as further input: most encoders here lose case."
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of the words' states.")
    hidden_words: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Part of the words that look like names whose letters the encoder does not see "
        "in training, so that names are not just learned by heart; needs word = 'mean'.",
    )

    @model_validator(mode="after")
    def _hidden_as_a_whole(self) -> Self:
        if self.hidden_words and self.word != "mean":
            raise ValueError("hidden_words hides all tokens of a word, so word has to be 'mean'")
        return self


@dataclass(frozen=True, slots=True)
class TaggerOutput:
    """The loss is the negative log likelihood of the tags, over the number of words."""

    logits: Tensor  # (words, tags)
    loss: Tensor


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
        *,
        names: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings or TaggerSettings()
        self.scheme: Scheme = self.settings.scheme
        self.types = tuple(types)
        self.names = dict(names or {})
        self.tags = tuple(tag_names(self.types, self.scheme))
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.shape: nn.Linear | None = None
        if self.settings.shapes:
            self.shape = shape_projection(encoder)
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
        names: Mapping[str, str] | None = None,
    ) -> Self:
        """An untrained model for the types that the documents' mentions have."""
        if not marks_ends(settings.scheme):  # beside an unknown word a mention's end is unknown
            require_whole_annotation(documents, f"tagger, scheme {settings.scheme}")
        return cls(encoder, types_to_learn(documents), settings, names=names)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[WordExample]:
        """Find words, tokens and tags of documents, once."""
        return make_examples(list(documents), self.encoder, self.tags, self.scheme)

    def collate(self, examples: Sequence[WordExample]) -> WordBatch:
        return make_batch(examples, self.encoder, whole_words=self.settings.word == "mean")

    def forward(self, batch: WordBatch) -> TaggerOutput:
        logits = self._logits(batch)
        likelihood = self.field.log_likelihood(batch.laid_out(logits), batch.tags, batch.lengths)
        return TaggerOutput(logits, -likelihood.sum() / batch.weight)

    def emissions(self, batch: WordBatch) -> Tensor:
        """(sentences, length, tags)"""
        return batch.laid_out(self._logits(batch))

    def _logits(self, batch: WordBatch) -> Tensor:
        """(words, tags)"""
        windows = batch.windows
        if self.training and self.settings.hidden_words:
            windows = hide_some(batch, self.settings.hidden_words, self.encoder.mask_token)
        states = self.encoder.states(windows, self._embedded_shapes(batch))
        # (documents, length, width)
        words = states.flatten(0, 1).index_select(0, batch.piece_slot)  # (pieces, width)
        if self.settings.word == "mean":
            words = segment_mean(words, batch.piece_word, batch.words)  # (words, width)
        return cast(Tensor, self.classifier(self.dropout(words)))

    def _embedded_shapes(self, batch: WordBatch) -> Tensor | None:
        """(windows, window length, embedding width)"""
        if self.shape is None:
            return None
        return cast(Tensor, self.shape(batch.shapes.to(self.shape.weight.dtype)))

    # --- prediction ----------------------------------------------------------------------------

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents with nothing but predicted mentions, each with a score.

        Documents of like length are put together, up to `batch_tokens` padded tokens.
        """
        return sequence_decoding.predict(self, documents, batch_tokens)

    def predict_sure(
        self, documents: Iterable[Document], least: float, *, batch_tokens: int = 4096
    ) -> list[Document]:
        """The same, but where a word is less sure, nothing is known; see sure_mentions.py."""
        return sequence_decoding.predict_sure(self, documents, least, batch_tokens)

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Set the temperature by documents that were not trained on."""
        return sequence_decoding.fit_scores(self, documents)

    # --- storage -------------------------------------------------------------------------------

    def save_pretrained(self, directory: str | Path) -> None:
        """Write config.json, model.safetensors and the encoder's configuration."""
        config = {
            "model": "tagger",
            "types": self.types,
            "names": self.names,
            "settings": self.settings.model_dump(),
            "provenance": self.provenance,
        }
        storage.save(self, Path(directory), config)

    @classmethod
    def from_pretrained(cls, directory: str | Path) -> Self:
        """Load what `save_pretrained` wrote; also a hub name."""
        return storage.load_model(
            directory,
            "tagger",
            lambda path, config: cls(
                storage.load_encoder(path, config),
                config["types"],
                TaggerSettings(**config["settings"]),
                names=config["names"],
            ),
        )

    def push_to_hub(self, repository: str, **options: Any) -> str:
        """Upload to the Hugging Face hub; returns the address."""
        return storage.push_to_hub(self, repository, **options)


MODEL, SETTINGS = Tagger, TaggerSettings
