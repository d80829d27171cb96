"""Documents as taggers see them: words, the encoder's tokens of each, their shapes and tags.

`WordExample` is one document, made once; `WordBatch` is several of them as arrays. The words of
all documents of a batch stand in one row; `layout` puts them into sentences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, cast

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document, Sentence
from factloom.encoders.tokens import Reader, Tokens
from factloom.encoders.windows import TokenIds
from factloom.layouts.words import word_tokens
from factloom.modules.devices import Array, Numbers, moved
from factloom.modules.windows import WindowBatch
from factloom.text.mention_tags import sentence_tags
from factloom.text.shapes import Case, Digits, Place, Signs, places, shape
from factloom.text.tags import Scheme, tag_numbers
from factloom.text.tokens import tokenised_sentences

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Integers = NDArray[np.int64]

# Of a token: case, digits, signs and place of its word, and the case of its own part of it.
_FEATURE_SIZES = (len(Case), len(Digits), len(Signs), len(Place), len(Case))
FEATURE_OFFSETS = np.cumsum([0, *_FEATURE_SIZES[:-1]])
SHAPES = sum(_FEATURE_SIZES)


@dataclass(frozen=True, slots=True)
class WordExample:
    """One document as index arrays over its words and tokens."""

    id: str
    token_ids: TokenIds  # (tokens,)
    shapes: Integers  # (tokens, features) which of the `SHAPES` a token has; -1 outside of words
    first: Integers  # (words,) first token of each word
    last: Integers  # (words,) last token; less than the first where a word has none
    lengths: tuple[int, ...]  # (sentences,) words of each
    offsets: Integers  # (words, 2) characters of the text
    tags: Integers  # (words,) number of the tag

    @property
    def tokens(self) -> int:
        return len(self.token_ids)

    @property
    def terms(self) -> int:
        return len(self.tags)


@dataclass(frozen=True, slots=True)
class WordBatch(Generic[Array]):
    """Several documents as arrays."""

    windows: WindowBatch[Array]
    shapes: Array  # bool (windows, window length, SHAPES) what each token has
    piece_slot: Array  # (pieces,) slot of a token that a word is made of, through all documents
    piece_word: Array  # (pieces,) the word, rising
    words: int
    layout: Array  # (sentences, length) word at each place, 0 behind the end
    lengths: Array  # (sentences,)
    tags: Array  # (sentences, length), 0 behind the end

    @property
    def weight(self) -> int:
        """How many terms the loss averages over."""
        return self.words

    def laid_out(self: "WordBatch", words: "Tensor") -> "Tensor":
        """(words, n) -> (sentences, length, n), anything behind the end of a sentence."""
        placed = words.index_select(0, self.layout.flatten())
        return placed.view(*self.layout.shape, words.shape[1])

    def to(self, device: "torch.device | str") -> "WordBatch":
        return moved(cast(WordBatch, self), device)


def make_examples(
    documents: Sequence[Document], encoder: Reader, tags: Sequence[str], scheme: Scheme
) -> list[WordExample]:
    """Words, tokens and tags; of overlapping mentions the longest counts.

    A mention of a type without tags carries the first of `tags`, O.
    """
    tokenised = encoder.tokenize([document.text for document in documents])
    number = tag_numbers(tags)
    return [
        make_example(document, tokens, number, scheme)
        for document, tokens in zip(documents, tokenised, strict=True)
    ]


def make_batch(
    examples: Sequence[WordExample], encoder: Reader, *, whole_words: bool
) -> WordBatch[Numbers]:
    """`whole_words`: a word is made of all its tokens, else of its first."""
    windows = encoder.lay_out([example.token_ids for example in examples])
    before = len(encoder.special.before)
    pieces = [_piece_slots(example, before, whole_words) for example in examples]
    count = np.concatenate([counts for _, counts in pieces])  # (words,)
    slots = [found + index * windows.length for index, (found, _) in enumerate(pieces)]
    lengths = np.array([length for example in examples for length in example.lengths], np.int64)
    inside = np.arange(max(lengths, default=0)) < lengths[:, None]  # (sentences, length)
    layout, tags = np.zeros(inside.shape, np.int64), np.zeros(inside.shape, np.int64)
    layout[inside] = np.arange(len(count))
    tags[inside] = np.concatenate([example.tags for example in examples])
    return WordBatch(
        windows=windows,
        shapes=window_shapes(
            [example.shapes for example in examples], [before] * len(examples), windows
        ),
        piece_slot=np.concatenate(slots),
        piece_word=np.repeat(np.arange(len(count)), count),
        words=len(count),
        layout=layout,
        lengths=lengths,
        tags=tags,
    )


def _piece_slots(example: WordExample, before: int, whole_words: bool) -> tuple[Integers, Integers]:
    """The slots of the tokens that words are made of (pieces,), and how many each has (words,)."""
    # a word without a token, such as a sign that the tokenizer drops, has the first slot
    missing = example.last < example.first
    first = np.where(missing, 0, example.first + before)
    last = np.where(missing, 0, example.last + before) if whole_words else first
    count = last - first + 1
    number = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)  # within a word
    return np.repeat(first, count) + number, count


def make_example(
    document: Document, tokens: Tokens, number: Mapping[str, int], scheme: Scheme
) -> WordExample:
    """A document whose text has been tokenised; `number` is that of each tag."""
    sentences = [s for s in tokenised_sentences(document) if s.tokens]
    words = [span for sentence in sentences for span in sentence.tokens]
    offsets = np.array(words, np.int64).reshape(-1, 2)
    first, last = word_tokens(offsets, tokens.offsets)
    tags = [tag for found in sentence_tags(document, sentences, scheme) for tag in found]
    return WordExample(
        id=document.id,
        token_ids=tokens.ids,
        shapes=token_shapes(document.text, sentences, offsets, tokens),
        first=first,
        last=last,
        lengths=tuple(len(sentence.tokens) for sentence in sentences),
        offsets=offsets,
        tags=np.array([number.get(tag, 0) for tag in tags], np.int64),
    )


def token_shapes(
    text: str, sentences: Sequence[Sentence], offsets: Integers, tokens: Tokens
) -> Integers:
    """(tokens, features) numbers of the shapes; -1 for tokens outside of all words."""
    of_words: list[tuple[int, ...]] = []
    for sentence in sentences:
        words = [text[start:end] for start, end in sentence.tokens]
        of_words += [
            (*shape(word), place) for word, place in zip(words, places(words), strict=True)
        ]
    if not of_words or not len(tokens.ids):
        return np.full((len(tokens.ids), len(_FEATURE_SIZES)), -1)
    starts, ends = tokens.offsets.T
    # a token may begin with the space in front of its word, so its end tells the word
    word = np.searchsorted(offsets[:, 1], ends, side="left")
    outside = (word == len(offsets)) | (offsets[np.minimum(word, len(offsets) - 1), 0] >= ends)
    own = [shape(text[start:end])[0] for start, end in zip(starts, ends, strict=True)]
    word = np.minimum(word, len(offsets) - 1)
    features = np.column_stack([np.array(of_words, np.int64)[word], np.array(own, np.int64)])
    return np.where(outside[:, None], -1, features + FEATURE_OFFSETS)


def window_shapes(
    documents: Sequence[Integers], before: Sequence[int], windows: WindowBatch[Numbers]
) -> NDArray[np.bool_]:
    """bool (windows, window length, SHAPES) what each token has; special ones have nothing.

    `documents` are the `token_shapes` of each document, whose first token is in slot `before`.
    """
    # one slot more a document stands for the padding
    of_slots = np.zeros((len(documents), windows.length + 1, SHAPES + 1), np.bool_)
    for row, shapes, start in zip(of_slots, documents, before, strict=True):
        slots = np.arange(start, start + len(shapes))[:, None]
        row[slots, shapes] = True  # -1, nothing, is the last and cut off
    found: NDArray[np.bool_] = of_slots[..., :SHAPES][windows.document[:, None], windows.slots]
    return found
