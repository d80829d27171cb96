"""Long texts as blocks of tokens, which a judge reads in windows and chooses from.

The cutter of passages.py with lengths in tokens of an encoder. A *window* is some blocks in the
order of the text, with a separator between two.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from factloom.answers.passages import cheapest_cuts, cut_costs, pieces_of
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.encoders.windows import TokenIds

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a document: characters `start` to `end`, half-open, and their tokens."""

    document: int  # its number among those read together
    start: int
    end: int
    token_ids: TokenIds  # (tokens,)
    offsets: Integers  # (tokens, 2) characters of the document


@dataclass(frozen=True, slots=True)
class Window:
    """Blocks as the encoder reads them together."""

    token_ids: TokenIds  # (tokens,)
    block: Integers  # (tokens,) which of the window's blocks it belongs to; -1 for separators


def blocks_of(documents: Iterable[Document], encoder: Encoder, most_tokens: int) -> list[Block]:
    """The blocks of all documents, in order; every word lies in exactly one.

    A block has at most `most_tokens` tokens, unless a single word has more.
    """
    return [
        block
        for number, document in enumerate(documents)
        for block in _blocks_of(number, document, encoder, most_tokens)
    ]


def _blocks_of(number: int, document: Document, encoder: Encoder, most: int) -> list[Block]:
    words = list(pieces_of(document.text))
    if not words:
        return []
    (tokens,) = encoder.tokenize([document.text])
    begins = np.asarray([start for start, _ in words])  # (words,)
    # a token that begins in front of the first word, such as one for white space, goes with it
    owner = (np.searchsorted(begins, tokens.offsets[:, 1] - 1, side="right") - 1).clip(min=0)
    sizes = np.bincount(owner, minlength=len(words))  # (words,)
    ends = cheapest_cuts(cut_costs(document, words), most, sizes.tolist())
    behind = np.concatenate([[0], np.cumsum(sizes)])  # (words + 1,) tokens in front
    return [
        Block(
            number,
            words[first][0],
            words[end - 1][1],
            tokens.ids[behind[first] : behind[end]],
            tokens.offsets[behind[first] : behind[end]],
        )
        for first, end in pairwise([0, *ends])
    ]


def window_of(blocks: Sequence[Block], separator: int | None) -> Window:
    """Blocks in a row; an encoder that has no separator reads them without."""
    ids: list[int] = []
    owner: list[int] = []
    for number, block in enumerate(blocks):
        if number and separator is not None:
            ids.append(separator)
            owner.append(-1)
        ids.extend(block.token_ids.tolist())
        owner.extend([number] * len(block.token_ids))
    return Window(np.asarray(ids, np.int64), np.asarray(owner, np.int64))


def blocks_with(blocks: Sequence[Block], spans: Iterable[tuple[int, int]]) -> list[int]:
    """The numbers of the blocks, of one document, that hold a part of these characters."""
    wanted = list(spans)
    return [
        number
        for number, block in enumerate(blocks)
        if any(start < block.end and end > block.start for start, end in wanted)
    ]
