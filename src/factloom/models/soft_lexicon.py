"""Soft-Lexicon: what a lexicon says about a character joins the character's vector.

Ma, Peng, Zhang, Wei, Huang: Simplify the Usage of Lexicon in Chinese NER, ACL 2020,
arXiv 1908.05969.

    input    the character's vector (its bigram's, the pretrained encoder's state), and as
             `lexicon` says: nothing, its position in a segmenter's words (softword), its positions
             in the lexicon's words (exsoftword), or the four sets of words that it begins, is in
             the middle of, ends and is, each summed up by frequency (soft_lexicon)
    layer    a bidirectional LSTM, a Transformer with relative positions, or none
    output   a linear layer, a conditional random field

How the sets are made and weighted: text/word_sets.py.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PositiveInt, model_validator
from torch import Tensor, nn

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.layouts.character_documents import (
    CharacterBatch,
    CharacterExample,
    CharacterSentence,
    make_batch,
    make_examples,
    read_sentences,
)
from factloom.layouts.character_tables import (
    CharacterSettings,
    CharacterTables,
    Vocabularies,
    count_words,
    learn_vocabularies,
    read_words,
    with_widths,
)
from factloom.models import PlainOutput, sequence_decoding, storage
from factloom.models.sequence_decoding import tags_and_field
from factloom.models.tag_decisions import SCHEME, types_to_learn
from factloom.modules.devices import moved
from factloom.modules.sequence_layers import BidirectionalLstm, RelativeTransformer
from factloom.modules.soft_lexicon import WeightedSums
from factloom.modules.vector_table import VectorTable
from factloom.text.lexicon import Matcher
from factloom.text.tags import Scheme
from factloom.text.vocabulary import Vocabulary
from factloom.text.word_sets import (
    NONE,
    ExSoftwordFeatures,
    SoftLexiconFeatures,
    SoftwordFeatures,
    WeightedRows,
    WordFeatures,
    joined_rows,
    uncovered,
)
from factloom.text.word_vectors import WordVectors


class SoftLexiconSettings(CharacterSettings):
    """Everything about the model that a user can choose; kept in its config.json."""

    lexicon: Literal["none", "softword", "exsoftword", "soft_lexicon"] = Field(
        "soft_lexicon", description="What is told about words; `none` for the network alone."
    )
    smoothing: NonNegativeFloat = Field(
        1.0, description="Added to every word's frequency, so that new words count too."
    )
    layer: Literal["bilstm", "transformer", "none"] = Field(
        "bilstm", description="What lies between the characters' vectors and the tags."
    )
    width: PositiveInt = Field(
        200, description="Size of each direction of the LSTM, or of the Transformer's states."
    )
    layers: PositiveInt = Field(1, description="How many of them.")
    heads: PositiveInt = Field(8, description="Heads of the Transformer's attention.")
    input_dropout: float = Field(0.5, ge=0, lt=1, description="Dropout of the vectors.")
    dropout: float = Field(0.5, ge=0, lt=1, description="Dropout behind the layer.")

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> Self:
        if self.layer == "transformer" and self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of heads {self.heads}")
        return self


@dataclass(frozen=True, slots=True)
class SoftLexiconExample:
    """One document: its characters, and what is told about each."""

    characters: CharacterExample
    features: WeightedRows  # characters counted through the document

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
        return self.characters.tokens

    @property
    def terms(self) -> int:
        return self.characters.terms


@dataclass(frozen=True, slots=True)
class SoftLexiconBatch:
    """Sentences as tensors; the features' entries of all of them in one row."""

    characters: CharacterBatch
    rows: Tensor  # (entries,)
    weights: Tensor  # (entries,)
    segment: Tensor  # (entries,) place in the padded batch * sets + set

    @property
    def lengths(self) -> Tensor:
        return self.characters.lengths

    @property
    def weight(self) -> int:
        return self.characters.weight

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


class SoftLexicon(nn.Module):
    """Names in Chinese text by characters that know the words around them.

    `frequencies` is how often each word was found in the training data, uncovered.
    """

    task: ClassVar[str] = "mentions"
    scheme: ClassVar[Scheme] = SCHEME
    encoder_optional: ClassVar[bool] = True
    temperature: Tensor  # of the scores; fitted on dev after training

    def __init__(
        self,
        encoder: Encoder | None,
        types: Sequence[str],
        vocabularies: Vocabularies,
        frequencies: Mapping[str, int],
        settings: SoftLexiconSettings,
        *,
        vectors: WordVectors | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.types = tuple(types)
        self.vocabularies = vocabularies
        self.frequencies = dict(frequencies)
        self.word_features = _word_features(vocabularies.words, frequencies, settings)
        self.provenance: dict[str, Any] = {}

        self.encoder = encoder
        self.characters = CharacterTables(vocabularies, vectors, settings, encoder)
        self.words = _word_sums(self.word_features, vectors, settings)
        inputs = self.characters.width + (0 if self.words is None else self.words.width)
        self.layer = _layer(inputs, settings)
        self.input_dropout = nn.Dropout(settings.input_dropout)
        self.dropout = nn.Dropout(settings.dropout)
        self.tags, self.field = tags_and_field(self.types)
        self.classifier = nn.Linear(
            inputs if self.layer is None else self.layer.width, len(self.tags)
        )
        self.register_buffer("temperature", torch.ones(()))

    @classmethod
    def from_documents(
        cls,
        encoder: Encoder | None,
        documents: Sequence[Document],
        settings: SoftLexiconSettings,
        *,
        names: Mapping[str, str] | None = None,  # noqa: ARG003 - every model is made alike
    ) -> Self:
        """An untrained model for the types, characters and words of the documents."""
        types = types_to_learn(documents)
        sentences = [each for document in documents for each in read_sentences(document, SCHEME)]
        words = read_words(settings) if settings.lexicon in ("exsoftword", "soft_lexicon") else ()
        matcher = Matcher(words)
        matches = matcher.find_all([sentence.characters for sentence in sentences])
        vocabularies, vectors = learn_vocabularies(sentences, words, matches, settings)
        settings = with_widths(settings, vectors)
        frequencies = count_words(map(uncovered, matches), words)
        return cls(encoder, types, vocabularies, frequencies, settings, vectors=vectors)

    # --- training ------------------------------------------------------------------------------

    def prepare(self, documents: Iterable[Document]) -> list[SoftLexiconExample]:
        """Find characters, tags and words of documents, once."""
        all_documents = list(documents)
        sentences = [read_sentences(document, SCHEME) for document in all_documents]
        tables = self.vocabularies
        examples = make_examples(
            all_documents, sentences, tables.characters, tables.bigrams, self.tags, self.encoder
        )
        features = self._features(sentences)
        return [
            SoftLexiconExample(example, of_document)
            for example, of_document in zip(examples, features, strict=True)
        ]

    def _features(self, documents: Sequence[Sequence[CharacterSentence]]) -> Iterator[WeightedRows]:
        """Those of each document; words are found in all sentences together."""
        maker = self.word_features
        every = [sentence.characters for sentences in documents for sentence in sentences]
        rows = iter(() if maker is None else maker.rows(every))
        for sentences in documents:
            of_sentences = list(itertools.islice(rows, len(sentences)))
            lengths = [len(sentence.characters) for sentence in sentences]
            yield joined_rows(of_sentences, lengths[: len(of_sentences)])

    def collate(self, examples: Sequence[SoftLexiconExample]) -> SoftLexiconBatch:
        characters = make_batch([example.characters for example in examples], self.encoder)
        features = joined_rows(
            [example.features for example in examples],
            [example.characters.tokens for example in examples],
        )
        sets = 0 if self.words is None else self.words.sets
        place = characters.places[torch.from_numpy(features.character)]
        return SoftLexiconBatch(
            characters=characters,
            rows=torch.from_numpy(features.row),
            weights=torch.from_numpy(features.weight),
            segment=place * sets + torch.from_numpy(features.set),
        )

    def forward(self, batch: SoftLexiconBatch) -> PlainOutput:
        """The loss is the negative log likelihood of the tags, over the number of characters."""
        emissions = self.emissions(batch)
        characters = batch.characters
        likelihood = self.field.log_likelihood(emissions, characters.tags, characters.lengths)
        logits = emissions.flatten(0, 1).index_select(0, characters.places)  # (characters, tags)
        return PlainOutput(logits, -likelihood.sum() / batch.weight)

    def emissions(self, batch: SoftLexiconBatch) -> Tensor:
        """(sentences, length, tags)"""
        states = self.characters(batch.characters, self.encoder)
        if self.words is not None:
            sentences, length, _ = states.shape
            told = self.words(batch.rows, batch.weights, batch.segment, sentences * length)
            states = torch.cat([states, told.view(sentences, length, -1)], 2)
        states = self.input_dropout(states)
        if self.layer is not None:
            states = self.layer(states, batch.characters.lengths)
        return cast(Tensor, self.classifier(self.dropout(states)))

    # --- prediction ----------------------------------------------------------------------------

    predict, predict_sure = sequence_decoding.predict, sequence_decoding.predict_sure
    fit_scores = sequence_decoding.fit_scores

    # --- storage -------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        return {
            "types": self.types,
            "vocabularies": self.vocabularies.to_config(),
            "frequencies": self.frequencies,
            "settings": self.settings.model_dump(),
        }

    @classmethod
    def from_config(cls, encoder: Encoder | None, config: Mapping[str, Any]) -> Self:
        vocabularies = Vocabularies.from_config(config["vocabularies"])
        settings = SoftLexiconSettings(**config["settings"])
        return cls(encoder, config["types"], vocabularies, config["frequencies"], settings)

    save_pretrained, push_to_hub = storage.save, storage.push_to_hub
    from_pretrained = classmethod(storage.load_as)


def _word_features(
    words: Vocabulary, frequencies: Mapping[str, int], settings: SoftLexiconSettings
) -> WordFeatures | None:
    if settings.lexicon == "softword":
        return SoftwordFeatures()
    if settings.lexicon == "exsoftword":
        return ExSoftwordFeatures(Matcher(words.words))
    if settings.lexicon == "soft_lexicon":
        with_none = Vocabulary((NONE, *words.words), words.learned + 1, words.fixed)
        return SoftLexiconFeatures(with_none, frequencies, settings.smoothing)
    return None


def _word_sums(
    features: WordFeatures | None, vectors: WordVectors | None, settings: SoftLexiconSettings
) -> WeightedSums | None:
    if features is None:
        return None
    # positions, which the other features are made of, are no words, whatever letters stand for them
    given = vectors if settings.lexicon == "soft_lexicon" else None
    table = VectorTable.of(features.vocabulary, given, settings.word_width, settings.vector_length)
    return WeightedSums(table, features.sets)


def _layer(
    inputs: int, settings: SoftLexiconSettings
) -> BidirectionalLstm | RelativeTransformer | None:
    width, layers, dropout = settings.width, settings.layers, settings.dropout
    if settings.layer == "bilstm":
        return BidirectionalLstm(inputs, width, layers, dropout)
    if settings.layer == "transformer":
        return RelativeTransformer(inputs, width, settings.heads, layers, dropout)
    return None


MODEL, SETTINGS = SoftLexicon, SoftLexiconSettings
