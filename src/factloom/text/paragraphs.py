"""Several paragraphs as one text, for questions whose answer takes more than one of them.

Each paragraph begins with its title, on a line and as a sentence of its own; an empty line stands
between two. The attribute "paragraphs" of the Document says which sentences are titles.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from factloom.document import Document, Sentence, Span

ATTRIBUTE = "paragraphs"
_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A part of a document's text, without its title."""

    title: str
    start: int  # characters of the document
    end: int
    sentences: range  # their numbers in the document; the title is the one in front


@dataclass(frozen=True, slots=True)
class JoinedParagraphs:
    """A text of several paragraphs, and what a Document has to know of it."""

    text: str
    sentences: tuple[Sentence, ...]
    titles: tuple[int, ...]  # numbers of the sentences that are titles

    def sentence(self, paragraph: int, number: int) -> int | None:
        """Which sentence of the text is the paragraph's so-manyth, if it has so many."""
        edges = (*self.titles, len(self.sentences))
        found = edges[paragraph] + 1 + number
        return found if number >= 0 and found < edges[paragraph + 1] else None


def join_paragraphs(
    paragraphs: Iterable[tuple[str, str, Sequence[Span]]],
) -> JoinedParagraphs:
    """Put paragraphs together: title, text, and the spans of the sentences of that text."""
    pieces: list[str] = []
    sentences: list[Sentence] = []
    titles: list[int] = []
    position = 0
    for title, text, spans in paragraphs:
        if pieces:
            pieces.append(_BETWEEN)
            position += len(_BETWEEN)
        titles.append(len(sentences))
        sentences.append(Sentence(position, position + len(title)))
        position += len(title) + 1
        sentences.extend(Sentence(position + start, position + end) for start, end in spans)
        pieces.append(f"{title}\n{text}")
        position += len(text)
    return JoinedParagraphs("".join(pieces), tuple(sentences), tuple(titles))


def join_sentences(sentences: Iterable[str]) -> tuple[str, list[Span]]:
    """Sentences as one text, with a space between two that have none, and their spans."""
    text = ""
    spans: list[Span] = []
    for sentence in sentences:
        if text and sentence and not text[-1].isspace() and not sentence[0].isspace():
            text += " "
        spans.append((len(text), len(text) + len(sentence)))
        text += sentence
    return text, spans


def paragraphs_of(document: Document) -> list[Paragraph]:
    """The paragraphs that the document was put together from; none where it was not."""
    titles = document.attributes.get(ATTRIBUTE)
    if not isinstance(titles, list | tuple) or not _are_titles(titles, len(document.sentences)):
        return []
    ends = [document.sentences[title].start - len(_BETWEEN) for title in titles[1:]]
    found = []
    edges = pairwise((*titles, len(document.sentences)))
    for (title, following), end in zip(edges, (*ends, len(document.text)), strict=True):
        start = min(document.sentences[title].end + 1, end)
        name = document.sentence_text(title)
        found.append(Paragraph(name, start, end, range(title + 1, following)))
    return found


def _are_titles(numbers: Sequence[object], sentences: int) -> bool:
    """Whether they are what `join_paragraphs` has made: somebody else may call his so too."""
    whole = [number for number in numbers if type(number) is int]
    rising = all(one < other for one, other in pairwise((-1, *whole, sentences)))
    return len(whole) == len(numbers) and rising and whole[:1] == [0]
