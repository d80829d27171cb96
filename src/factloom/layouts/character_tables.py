"""Characters and words as vectors: which ones a model knows, and where the vectors come from."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt
from torch import Tensor, nn

from factloom.encoders.encoder import Encoder
from factloom.errors import Place, RecipeError
from factloom.files.data_path import data_path
from factloom.layouts.character_documents import CharacterBatch, CharacterSentence
from factloom.modules.vector_table import VectorTable
from factloom.text.lexicon import Matches, read_lexicon
from factloom.text.vocabulary import Vocabulary, learn_vocabulary
from factloom.text.word_vectors import WordVectors, read_vectors, vector_words

VECTORS = "vectors"

SettingsT = TypeVar("SettingsT", bound="CharacterSettings")


class CharacterSettings(BaseModel):
    """What a user can choose of every model that reads characters and words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    vectors: str | None = Field(
        None, description="Word vectors that characters and words begin with (word2vec, .npy)."
    )
    words: list[str] = Field(
        [VECTORS],
        description='Where the lexicon comes from: "vectors" (the words of the vectors\' file), '
        '"jieba", files and folders of word lists.',
    )
    least_frequency: NonNegativeInt = Field(
        0, description="Leave out words that a list says are rarer."
    )
    bigrams: bool = Field(False, description="Also a vector for each pair of characters.")
    character_width: PositiveInt = Field(
        50, description="Size of the vectors of characters and bigrams, where no file decides it."
    )
    word_width: PositiveInt = Field(
        50, description="Size of the vectors of words, where no file decides it."
    )
    vector_length: PositiveFloat = Field(
        1.0, description="Length that all vectors begin with; longer ones change less in training."
    )


@dataclass(frozen=True, slots=True)
class Vocabularies:
    """What a model knows; kept in its config.json."""

    characters: Vocabulary
    bigrams: Vocabulary | None
    words: Vocabulary

    def to_config(self) -> dict[str, Any]:
        return {
            "characters": self.characters.to_config(),
            "bigrams": None if self.bigrams is None else self.bigrams.to_config(),
            "words": self.words.to_config(),
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        bigrams = config["bigrams"]
        return cls(
            characters=Vocabulary.from_config(config["characters"]),
            bigrams=None if bigrams is None else Vocabulary.from_config(bigrams),
            words=Vocabulary.from_config(config["words"]),
        )


def read_words(settings: CharacterSettings) -> tuple[str, ...]:
    """The words of the lexicon that the settings describe."""
    lists = [data_path(source) for source in settings.words if source != VECTORS]
    found = read_lexicon(lists, settings.least_frequency).words
    if VECTORS in settings.words:
        if settings.vectors is None:
            raise RecipeError("lexicon-no-vectors", Place(part="model.words"))
        found = (*found, *vector_words(data_path(settings.vectors)))
    return tuple(dict.fromkeys(found))


def learn_vocabularies(
    sentences: Sequence[CharacterSentence],
    words: Sequence[str],
    matches: Iterable[Matches],
    settings: CharacterSettings,
) -> tuple[Vocabularies, WordVectors | None]:
    """The vocabularies of a model for such sentences, and the vectors that it begins with.

    `matches` are the places of the lexicon's `words` in the sentences.
    """
    characters = Counter(c for sentence in sentences for c in sentence.characters)
    bigrams = Counter(pair for sentence in sentences for pair in sentence.bigrams)
    vectors = None
    if settings.vectors is not None:
        wanted = {*characters, *bigrams, *words}
        path = Path(data_path(settings.vectors))
        vectors = read_vectors(path, lambda word: word in wanted or len(word) == 1)
    has_vector = frozenset(() if vectors is None else vectors.words).__contains__
    others = [] if vectors is None else [word for word in vectors.words if len(word) == 1]
    found = Vocabularies(
        characters=learn_vocabulary(characters, others, has_vector),
        bigrams=learn_vocabulary(bigrams, (), has_vector) if settings.bigrams else None,
        words=learn_vocabulary(count_words(matches, words), words, has_vector),
    )
    return found, vectors


def count_words(matches: Iterable[Matches], words: Sequence[str]) -> Counter[str]:
    """How often each word is matched."""
    return Counter(words[index] for found in matches for index in found[:, 0].tolist())


def with_widths(settings: SettingsT, vectors: WordVectors | None) -> SettingsT:
    """The settings with the width of the vectors where there are any."""
    if vectors is None:
        return settings
    widths = {"character_width": vectors.width, "word_width": vectors.width}
    return settings.model_copy(update=widths)


class CharacterTables(nn.Module):
    """Characters as vectors: their own, their bigrams', and the pretrained encoder's states."""

    def __init__(
        self,
        vocabularies: Vocabularies,
        vectors: WordVectors | None,
        settings: CharacterSettings,
        encoder: Encoder | None,
    ) -> None:
        super().__init__()
        width, length = settings.character_width, settings.vector_length
        self.characters = VectorTable.of(vocabularies.characters, vectors, width, length)
        self.bigrams = (
            None
            if vocabularies.bigrams is None
            else VectorTable.of(vocabularies.bigrams, vectors, width, length)
        )
        own_width = width if self.bigrams is None else 2 * width
        self.width = own_width if encoder is None else own_width + encoder.width

    def forward(self, batch: CharacterBatch, encoder: Encoder | None) -> Tensor:
        """(sentences, length, width)"""
        parts = [self.characters(batch.characters)]
        if self.bigrams is not None and batch.bigrams is not None:
            parts.append(self.bigrams(batch.bigrams))
        if encoder is not None and batch.windows is not None and batch.slots is not None:
            states = encoder.states(batch.windows).flatten(0, 1)  # (documents x slots, width)
            of_characters = states.index_select(0, batch.slots.flatten())
            parts.append(of_characters.view(*batch.slots.shape, -1))
        return torch.cat(parts, 2)
