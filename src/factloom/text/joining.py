"""Short documents that stand behind each other, read as one: context for sentences of a file.

A CoNLL file without -DOCSTART- holds sentences, each a document of its own, though the next one
goes on with the same story. A name is easier to tell where its neighbours can be read.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from factloom.document import Document, Mention

_BETWEEN = "\n"


@dataclass(frozen=True, slots=True)
class JoinedDocuments:
    """Several documents as one with the sentences and mentions of all, and the way back."""

    document: Document
    parts: tuple[Document, ...]

    def split(self, predicted: Document) -> list[Document]:
        """The parts with the mentions that were predicted for the whole.

        A mention that reaches from one part into another is in none of them.
        """
        if len(self.parts) == 1:
            return [predicted]
        found = []
        start = 0
        for part in self.parts:
            end = start + len(part.text)
            inside = [m for m in predicted.mentions if start <= m.start and m.end <= end]
            mentions = tuple(_moved(mention, -start) for mention in inside)
            found.append(part.without_mentions().replace(mentions=mentions))
            start = end + len(_BETWEEN)
        return found


def join_documents(documents: Iterable[Document], words: int) -> Iterator[JoinedDocuments]:
    """Put documents together, in their order, up to `words` words each time; 0 leaves all alone.

    One that is longer, or whose sentences and words are not known, stays alone too.
    """
    parts: list[Document] = []
    total = 0
    for document in documents:
        length = len(document.tokens) or words  # unknown: as if it filled a whole one
        if parts and total + length > words:
            yield _joined(parts)
            parts, total = [], 0
        parts.append(document)
        total += length
        if total >= words:  # now, not when the next one comes
            yield _joined(parts)
            parts, total = [], 0
    if parts:
        yield _joined(parts)


def _joined(parts: Sequence[Document]) -> JoinedDocuments:
    if len(parts) == 1:
        return JoinedDocuments(parts[0], tuple(parts))
    starts = [0]
    for part in parts[:-1]:
        starts.append(starts[-1] + len(part.text) + len(_BETWEEN))
    placed = list(zip(starts, parts, strict=True))
    whole = Document(
        text=_BETWEEN.join(part.text for part in parts),
        id=f"{parts[0].id} to {parts[-1].id}",
        sentences=tuple(
            dataclasses.replace(
                sentence,
                start=sentence.start + start,
                end=sentence.end + start,
                tokens=tuple((a + start, b + start) for a, b in sentence.tokens),
            )
            for start, part in placed
            for sentence in part.sentences
        ),
        mentions=tuple(_moved(m, start) for start, part in placed for m in part.mentions),
    )
    return JoinedDocuments(whole, tuple(parts))


def _moved(mention: Mention, distance: int) -> Mention:
    return dataclasses.replace(mention, start=mention.start + distance, end=mention.end + distance)
