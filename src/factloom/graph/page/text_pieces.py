"""A document's text cut at the borders of its sentences and mentions, so that it can be shown.

The page gets pieces of text and no offsets: Python counts code points, a browser counts UTF-16
units, and the two part ways at the first emoji.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from factloom.document import Document


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text with the mentions that cover it, the shortest first."""

    text: str
    sentence: int | None
    mentions: tuple[int, ...]


def text_pieces(document: Document) -> Iterator[Piece]:
    """The whole text, in order. No piece crosses the border of a sentence or a mention."""
    openings = sorted(
        range(len(document.mentions)),
        key=lambda index: document.mentions[index].start,
        reverse=True,
    )
    open_mentions: list[int] = []
    for start, end in pairwise(_borders(document)):
        while openings and document.mentions[openings[-1]].start <= start:
            open_mentions.append(openings.pop())
        open_mentions = [index for index in open_mentions if document.mentions[index].end > start]
        yield Piece(
            text=document.text[start:end],
            sentence=document.sentence_at(start),
            mentions=tuple(sorted(open_mentions, key=lambda index: _length(document, index))),
        )


def _borders(document: Document) -> list[int]:
    found = {0, len(document.text)}
    for sentence in document.sentences:
        found |= {sentence.start, sentence.end}
    for mention in document.mentions:
        found |= {mention.start, mention.end}
    return sorted(found)


def _length(document: Document, mention: int) -> int:
    found = document.mentions[mention]
    return found.end - found.start
