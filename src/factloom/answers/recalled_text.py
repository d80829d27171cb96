"""What is left of long texts, put together as one short text, and the way back."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from factloom.answers.blocks import Block
from factloom.document import Answer, Document, Question, Span
from factloom.layouts.asked_questions import CUTS

BETWEEN = "\n"  # ends a sentence, so that none is made of two


@dataclass(frozen=True, slots=True)
class Stretch:
    """Blocks that follow each other in a document."""

    document: int
    start: int  # characters of the document
    end: int
    position: int  # of its first character in the recalled text


@dataclass(frozen=True, slots=True)
class RecalledText:
    """The stretches of some documents, each on a line of its own or more."""

    text: str
    stretches: tuple[Stretch, ...]

    def asked(self, question: str, answers: tuple[Answer, ...] | None = None) -> Document:
        """A document with one question about it; no answer may reach over what was left out."""
        cuts = [stretch.position for stretch in self.stretches[1:]]
        return Document(
            self.text, questions=(Question(question, answers=answers),), attributes={CUTS: cuts}
        )

    def origin(self, start: int, end: int) -> tuple[int, int, int]:
        """The document and its characters of a span that lies within one stretch."""
        found = next(one for one in reversed(self.stretches) if one.position <= start)
        moved = found.start - found.position
        return found.document, start + moved, end + moved

    def places(self, document: int, spans: Iterable[Span]) -> Iterator[Span]:
        """Where spans of a document stand in the text, as far as they are in it whole."""
        for start, end in spans:
            for one in self.stretches:
                if one.document == document and one.start <= start and end <= one.end:
                    moved = one.position - one.start
                    yield start + moved, end + moved


@dataclass(frozen=True, slots=True)
class Recollection:
    """What is left of some documents for one question."""

    blocks: list[Block]
    chosen: list[int]  # numbers of blocks, in order
    relevance: list[list[float]]  # of the tokens of each chosen block
    text: RecalledText


def put_together(
    blocks: Sequence[Block], chosen: Sequence[int], documents: Sequence[Document]
) -> RecalledText:
    """The chosen blocks, whose numbers are in order, of the documents."""
    spans = list(_runs(blocks, chosen))
    texts = [documents[number].text[start:end] for number, start, end in spans]
    positions = accumulate((len(text) + len(BETWEEN) for text in texts), initial=0)
    stretches = (Stretch(*span, position) for span, position in zip(spans, positions, strict=False))
    return RecalledText(BETWEEN.join(texts), tuple(stretches))


def _runs(blocks: Sequence[Block], chosen: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Document, start and end of blocks that follow each other."""
    if not chosen:
        return
    breaks = [
        place
        for place, (one, other) in enumerate(pairwise(chosen), start=1)
        if other != one + 1 or blocks[one].document != blocks[other].document
    ]
    for first, beyond in pairwise([0, *breaks, len(chosen)]):
        start, end = blocks[chosen[first]], blocks[chosen[beyond - 1]]
        yield start.document, start.start, end.end
