"""FLAT: a sentence's characters and the words among them, side by side in one attention.

Li, Yan, Qiu, Huang: FLAT: Chinese NER Using Flat-Lattice Transformer, ACL 2020, arXiv 2004.11795.

    input      the characters, and behind them every word of the lexicon that the sentence holds,
               each with the positions of its first and last character
    attention  A*_ij from both contents and the four distances of spans i and j
               (modules/lattice_attention.py)
    output     the states of the characters, a linear layer, a conditional random field

Without words (`words = []`) it is the same network on characters alone.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, PositiveInt, model_validator
from torch import Tensor, nn

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.layouts.character_documents import (
    CharacterBatch,
    CharacterExample,
    by_sentence,
    make_batch,
    make_examples,
    read_sentences,
)
from factloom.layouts.character_tables import (
    CharacterSettings,
    CharacterTables,
    Vocabularies,
    learn_vocabularies,
    read_words,
    with_widths,
)
from factloom.models import PlainOutput, sequence_decoding, storage
from factloom.models.sequence_decoding import tags_and_field
from factloom.models.tag_decisions import SCHEME, types_to_learn
from factloom.modules.devices import moved
from factloom.modules.lattice_attention import LatticeLayer, RelativeSpans, span_pairs
from factloom.modules.vector_table import VectorTable
from factloom.text.lexicon import Matcher, Matches
from factloom.text.tags import Scheme
from factloom.text.word_vectors import WordVectors

_SHORTEST = 2  # characters of a word: a single one is in the lattice already


class FlatSettings(CharacterSettings):
    """Everything about the model that a user can choose; kept in its config.json."""

    width: PositiveInt = Field(160, description="Size of the states; a multiple of `heads`.")
    heads: PositiveInt = Field(8, description="Heads of the attention.")
    layers: PositiveInt = Field(1, description="Layers of attention and feed-forward network.")
    inner: PositiveInt = Field(480, description="Size inside the feed-forward network.")
    input_dropout: float = Field(0.5, ge=0, lt=1, description="Dropout of the vectors.")
    dropout: float = Field(0.3, ge=0, lt=1, description="Dropout inside and behind the layers.")

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> Self:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of heads {self.heads}")
        return self


@dataclass(frozen=True, slots=True)
class FlatExample:
    """One document: its characters, and the words found in each sentence."""

    characters: CharacterExample
    words: NDArray[np.int64]  # (words, 3) row of the table, first and last character in sentence
    word_counts: tuple[int, ...]  # words of each sentence

    @property
    def id(self) -> str:
        return self.characters.id

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.characters.lengths

    @property
    def offsets(self) -> NDArray[np.int64]:
        return self.characters.offsets

    @property
    def tokens(self) -> int:
        return self.characters.tokens + len(self.words)

    @property
    def terms(self) -> int:
        return self.characters.terms


@dataclass(frozen=True, slots=True)
class FlatBatch:
    """Sentences as tensors: `length` characters and behind them words, padded both."""

    characters: CharacterBatch
    words: Tensor  # (sentences, words) rows
    heads: Tensor  # (sentences, length + words) first character of each span
    tails: Tensor  # (sentences, length + words) last character
    mask: Tensor  # bool (sentences, length + words), False for padding

    @property
    def lengths(self) -> Tensor:
        return self.characters.lengths

    @property
    def weight(self) -> int:
        return self.characters.weight

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


class Flat(nn.Module):
    """Names in Chinese text by a lattice of characters and words."""

    task: ClassVar[str] = "mentions"
    scheme: ClassVar[Scheme] = SCHEME
    encoder_optional: ClassVar[bool] = True
    temperature: Tensor  # of the scores; fitted on dev after training

    def __init__(
        self,
        encoder: Encoder | None,
        types: Sequence[str],
        vocabularies: Vocabularies,
        settings: FlatSettings,
        *,
        vectors: WordVectors | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.types = tuple(types)
        self.vocabularies = vocabularies
        self.matcher = Matcher(vocabularies.words.words, _SHORTEST)
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.characters = CharacterTables(vocabularies, vectors, settings, encoder)
        self.words = VectorTable.of(
            vocabularies.words, vectors, settings.word_width, settings.vector_length
        )
        self.character_projection = nn.Linear(self.characters.width, settings.width)
        self.word_projection = nn.Linear(settings.word_width, settings.width)
        self.relative = RelativeSpans(settings.width)
        self.layers = nn.ModuleList(
            LatticeLayer(settings.width, settings.heads, settings.inner, settings.dropout)
            for _ in range(settings.layers)
        )
        self.input_dropout = nn.Dropout(settings.input_dropout)
        self.dropout = nn.Dropout(settings.dropout)
        self.tags, self.field = tags_and_field(self.types)
        self.classifier = nn.Linear(settings.width, len(self.tags))
        self.register_buffer("temperature", torch.ones(()))

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder | None,
        documents: Sequence[Document],
        settings: FlatSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        """An untrained model for the types, characters and words of the documents."""
        types = types_to_learn(documents)
        sentences = [each for document in documents for each in read_sentences(document, SCHEME)]
        words = [word for word in read_words(settings) if len(word) >= _SHORTEST]
        matcher = Matcher(words, _SHORTEST)
        matches = matcher.find_all([sentence.characters for sentence in sentences])
        vocabularies, vectors = learn_vocabularies(sentences, words, matches, settings)
        settings = with_widths(settings, vectors)
        return cls(encoder, types, vocabularies, settings, vectors=vectors)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[FlatExample]:
        """Find characters, tags and words of documents, once."""
        all_documents = list(documents)
        sentences = [read_sentences(document, SCHEME) for document in all_documents]
        tables = self.vocabularies
        examples = make_examples(
            all_documents, sentences, tables.characters, tables.bigrams, self.tags, self.encoder
        )
        matches = iter(
            self.matcher.find_all(
                [sentence.characters for of_document in sentences for sentence in of_document]
            )
        )
        return [
            self._with_words(example, list(itertools.islice(matches, len(example.lengths))))
            for example in examples
        ]

    def _with_words(self, example: CharacterExample, matches: Sequence[Matches]) -> FlatExample:
        joined = np.concatenate([np.zeros((0, 3), np.int64), *matches])
        rows = self.vocabularies.words.rows_of(joined[:, 0])
        words = np.column_stack([rows, joined[:, 1], joined[:, 2] - 1])
        return FlatExample(example, words, tuple(map(len, matches)))

    def collate(self, examples: Sequence[FlatExample]) -> FlatBatch:
        characters = make_batch([example.characters for example in examples], self.encoder)
        counts = np.array([n for example in examples for n in example.word_counts], np.int64)
        words = np.concatenate([example.words for example in examples])  # (words, 3)
        rows, first, last = (torch.from_numpy(by_sentence(part, counts)) for part in words.T)
        positions = torch.arange(characters.characters.shape[1]).expand(len(counts), -1)
        present = torch.arange(rows.shape[1]) < torch.from_numpy(counts)[:, None]
        return FlatBatch(
            characters=characters,
            words=rows,
            heads=torch.cat([positions, first], 1),
            tails=torch.cat([positions, last], 1),
            mask=torch.cat([characters.mask, present], 1),
        )

    def forward(self, batch: FlatBatch) -> PlainOutput:
        """The loss is the negative log likelihood of the tags, over the number of characters."""
        emissions = self.emissions(batch)
        characters = batch.characters
        likelihood = self.field.log_likelihood(emissions, characters.tags, characters.lengths)
        logits = emissions.flatten(0, 1).index_select(0, characters.places)  # (characters, tags)
        return PlainOutput(logits, -likelihood.sum() / batch.weight)

    def emissions(self, batch: FlatBatch) -> Tensor:
        """(sentences, length, tags)"""
        characters = self.input_dropout(self.characters(batch.characters, self.encoder))
        words = self.input_dropout(self.words(batch.words))
        states = torch.cat(
            [self.character_projection(characters), self.word_projection(words)], 1
        )  # (sentences, length + words, width)
        *inner, last = self.layers
        # of the last layer only the characters' states are used: no need to make the words'
        length = characters.shape[1]
        pairs = span_pairs(batch.heads, batch.tails, None if inner else length)
        relative = self.relative(pairs.distances)
        for layer in inner:
            states = layer(states, relative, pairs, batch.mask)
        states = last(states, relative, pairs.of_first(length), batch.mask)
        return cast(Tensor, self.classifier(self.dropout(states)))

    # --- prediction ----------------------------------------------------------------------------

    predict, predict_sure = sequence_decoding.predict, sequence_decoding.predict_sure
    fit_scores = sequence_decoding.fit_scores

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {
            "types": self.types,
            "vocabularies": self.vocabularies.to_config(),
            "settings": self.settings.model_dump(),
        }

    @classmethod
    def from_config(cls, encoder: Encoder | None, config: Mapping[str, Any]) -> Self:
        vocabularies = Vocabularies.from_config(config["vocabularies"])
        return cls(encoder, config["types"], vocabularies, FlatSettings(**config["settings"]))

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


MODEL, SETTINGS = Flat, FlatSettings
