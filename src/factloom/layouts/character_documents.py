"""Documents as models with a lexicon see them: sentences of characters, tags, the encoder's tokens.

`CharacterExample` is one document, made once; `CharacterBatch` is several of them as tensors, with
a row a sentence. A "character" is a token of the source where it has tokens of its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.encoders.windows import TokenIds
from factloom.layouts.words import word_tokens
from factloom.modules.devices import moved
from factloom.modules.windows import WindowBatch
from factloom.text.characters import character_sentences
from factloom.text.mention_tags import sentence_tags
from factloom.text.tags import Scheme, tag_numbers
from factloom.text.vocabulary import Vocabulary

Integers = NDArray[np.int64]

_NOTHING: Integers = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class CharacterSentence:
    """One sentence: its characters, where they stand in the text, and their tags."""

    characters: tuple[str, ...]
    offsets: Integers  # (characters, 2)
    tags: tuple[str, ...]

    @property
    def bigrams(self) -> list[str]:
        """Each character with the next one; the last has an empty one behind it."""
        return [first + second for first, second in pairwise([*self.characters, ""])]


@dataclass(frozen=True, slots=True)
class CharacterExample:
    """One document as index arrays over all its characters."""

    id: str
    lengths: tuple[int, ...]  # (sentences,) characters of each
    offsets: Integers  # (characters, 2) in the text
    characters: Integers  # (characters,) rows of the table of characters
    bigrams: Integers  # (characters,) rows of the table of bigrams; empty without one
    tags: Integers  # (characters,) number of the tag
    token_ids: TokenIds  # (tokens,) of the encoder; empty without one
    first_token: Integers  # (characters,) where each begins in them; empty without one

    @property
    def tokens(self) -> int:
        return len(self.characters)

    @property
    def terms(self) -> int:
        return len(self.characters)


@dataclass(frozen=True, slots=True)
class CharacterBatch:
    """The sentences of several documents as tensors."""

    lengths: Tensor  # (sentences,)
    characters: Tensor  # (sentences, length) rows, 0 behind the end
    bigrams: Tensor | None  # (sentences, length)
    tags: Tensor  # (sentences, length), 0 behind the end
    windows: WindowBatch | None
    slots: Tensor | None  # (sentences, length) into documents x slots of the encoder

    @property
    def weight(self) -> int:
        """How many terms the loss averages over: characters."""
        return int(self.lengths.sum())

    @property
    def mask(self) -> Tensor:
        """bool (sentences, length), False behind the end"""
        positions = torch.arange(self.characters.shape[1], device=self.lengths.device)
        return positions < self.lengths[:, None]

    @property
    def places(self) -> Tensor:
        """(characters,) into sentences x length, of all but the padding"""
        return self.mask.flatten().nonzero().flatten()

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


def read_sentences(document: Document, scheme: Scheme) -> list[CharacterSentence]:
    """The sentences of a document that hold a character; of overlapping mentions the longest."""
    sentences = character_sentences(document)
    return [
        CharacterSentence(
            characters=tuple(document.text[start:end] for start, end in sentence.tokens),
            offsets=np.array(sentence.tokens, np.int64),
            tags=tuple(tags),
        )
        for sentence, tags in zip(
            sentences, sentence_tags(document, sentences, scheme), strict=True
        )
        if sentence.tokens
    ]


def make_examples(
    documents: Sequence[Document],
    sentences: Sequence[Sequence[CharacterSentence]],
    characters: Vocabulary,
    bigrams: Vocabulary | None,
    tags: Sequence[str],
    encoder: Encoder | None,
) -> list[CharacterExample]:
    """Documents as index arrays; a tag that is not among `tags` is the first of them, O."""
    tag_index = tag_numbers(tags)
    tokens = _first_tokens(documents, sentences, encoder)
    return [
        CharacterExample(
            id=document.id,
            lengths=tuple(len(sentence.characters) for sentence in found),
            offsets=_offsets(found),
            characters=_joined(characters.rows(sentence.characters) for sentence in found),
            bigrams=_joined(bigrams.rows(sentence.bigrams) for sentence in found)
            if bigrams is not None
            else _NOTHING,
            tags=_joined(
                np.array([tag_index.get(tag, 0) for tag in sentence.tags]) for sentence in found
            ),
            token_ids=token_ids,
            first_token=first_token,
        )
        for document, found, (token_ids, first_token) in zip(
            documents, sentences, tokens, strict=True
        )
    ]


def _first_tokens(
    documents: Sequence[Document],
    sentences: Sequence[Sequence[CharacterSentence]],
    encoder: Encoder | None,
) -> list[tuple[TokenIds, Integers]]:
    """The encoder's tokens of each document, and the first one of each character, -1 for none."""
    if encoder is None:
        return [(_NOTHING, _NOTHING)] * len(documents)
    result = []
    tokenised = encoder.tokenize([document.text for document in documents])
    for found, tokens in zip(sentences, tokenised, strict=True):
        first, last = word_tokens(_offsets(found), tokens.offsets)
        result.append((tokens.ids, np.where(first <= last, first, -1)))
    return result


def make_batch(examples: Sequence[CharacterExample], encoder: Encoder | None) -> CharacterBatch:
    lengths = np.array([length for example in examples for length in example.lengths], np.int64)

    def laid_out(parts: Iterable[Integers]) -> Tensor:
        return torch.from_numpy(by_sentence(_joined(parts), lengths))

    windows, slots = None, None
    if encoder is not None:
        windows = encoder.batch([example.token_ids for example in examples])
        before = len(encoder.special.before)
        # a character without a token, such as one that the tokenizer drops, has the first slot
        slots = laid_out(
            number * windows.length + np.where(e.first_token < 0, 0, e.first_token + before)
            for number, e in enumerate(examples)
        )
    has_bigrams = any(len(example.bigrams) for example in examples)
    return CharacterBatch(
        lengths=torch.from_numpy(lengths),
        characters=laid_out(example.characters for example in examples),
        bigrams=laid_out(example.bigrams for example in examples) if has_bigrams else None,
        tags=laid_out(example.tags for example in examples),
        windows=windows,
        slots=slots,
    )


def by_sentence(values: Integers, lengths: Integers) -> Integers:
    """One value a character -> (sentences, length), 0 behind the end of a sentence."""
    table = np.zeros((len(lengths), int(lengths.max(initial=0))), np.int64)
    table[np.arange(table.shape[1]) < lengths[:, None]] = values
    return table


def _offsets(sentences: Iterable[CharacterSentence]) -> Integers:
    return np.concatenate([np.zeros((0, 2), np.int64), *(found.offsets for found in sentences)])


def _joined(parts: Iterable[Integers]) -> Integers:
    return np.concatenate([_NOTHING, *parts])
