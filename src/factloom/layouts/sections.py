"""A very long document as sections that are read one by one, and put together again.

What a model lays out in memory grows with the length of what it reads at once, and pairs of
mentions with more than that. So a document of more than `SECTION` characters is cut between
sentences; a sentence that no section can hold is cut between words. Documents and sections are
given to the model in groups of at most `TOGETHER` characters: memory is bounded however long and
however many they are.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from factloom.document import Document, Sentence, Span
from factloom.text.cutting import runs
from factloom.text.sentences import find_sentences

SECTION = 2**15  # some 5,000 English words
TOGETHER = 2**19

Read = Callable[[list[Document]], list[Document]]
Join = Callable[[Document], Document]


def read_in_sections(
    documents: Iterable[Document], read: Read, join: Join = lambda document: document
) -> list[Document]:
    """The documents with the mentions and entities that `read` finds in them.

    A document that is not cut comes out as `read` gives it. Of longer ones, the entities of
    different sections are told apart, and the relations left out; `join` is given what came
    together.
    """
    read_documents: list[Document] = []
    for document, parts in _read_parts(documents, read):
        read_documents.append(join(_joined(document, parts)) if is_cut(document) else parts[0])
    return read_documents


def is_cut(document: Document) -> bool:
    """Whether it is longer than a section; of white space, it may be one section all the same."""
    return len(document.text) > SECTION


def _read_parts(
    documents: Iterable[Document], read: Read
) -> Iterator[tuple[Document, list[Document]]]:
    """Each document with its sections as they were read."""
    waiting = [(document, list(sections(document))) for document in documents]
    parts = (part for group in _groups(waiting) for part in read(group))
    for document, cut in waiting:
        yield document, [next(parts) for _ in cut]


def _groups(waiting: Iterable[tuple[Document, list[Document]]]) -> Iterator[list[Document]]:
    group: list[Document] = []
    characters = 0
    for _, cut in waiting:
        for section in cut:
            if group and characters + len(section.text) > TOGETHER:
                yield group
                group, characters = [], 0
            group.append(section)
            characters += len(section.text)
    if group:
        yield group


def sections(document: Document) -> Iterator[Document]:
    """The document in parts of at most `SECTION` characters, its mentions left out where it is cut.

    The attribute "section" of a part is where it begins in the document.
    """
    if not is_cut(document):
        yield document
        return
    pieces = [
        piece
        for sentence in document.sentences or find_sentences(document.text)
        for piece in _pieces(document.text, sentence)
    ]
    if not pieces:  # nothing but white space
        pieces = [Sentence(0, 0)]
    starts, ends = [piece.start for piece in pieces], [piece.end for piece in pieces]
    for first, behind in runs(starts, ends, SECTION):
        yield _section(document, starts[first], ends[behind - 1], pieces[first:behind])


def _pieces(text: str, sentence: Sentence) -> Iterator[Sentence]:
    """The sentence; a longer one than `SECTION` in parts, cut between words where there are any."""
    start = sentence.start
    while sentence.end - start > SECTION:
        end = _cut(text, sentence.tokens, start)
        yield _piece(sentence, start, end)
        start = end
    yield _piece(sentence, start, sentence.end)


def _cut(text: str, tokens: Sequence[Span], start: int) -> int:
    """Where a part that begins at `start` ends: behind the last word that it can hold."""
    end = start + SECTION
    last = bisect_right(tokens, end, key=lambda token: token[1]) - 1
    if last >= 0 and tokens[last][1] > start:
        return tokens[last][1]
    blank = max(text.rfind(" ", start + 1, end), text.rfind("\n", start + 1, end))
    return end if blank < 0 else blank


def _piece(sentence: Sentence, start: int, end: int) -> Sentence:
    first = bisect_left(sentence.tokens, start, key=lambda token: token[0])
    last = bisect_right(sentence.tokens, end, key=lambda token: token[1])
    return Sentence(start, end, sentence.tokens[first:last])


def _section(document: Document, start: int, end: int, pieces: Sequence[Sentence]) -> Document:
    moved = (
        Sentence(
            piece.start - start,
            piece.end - start,
            tuple((first - start, last - start) for first, last in piece.tokens),
        )
        for piece in pieces
    )
    return Document(
        text=document.text[start:end],
        id=document.id,
        sentences=tuple(moved),
        attributes={**document.attributes, "section": start},
    )


def _joined(document: Document, parts: Sequence[Document]) -> Document:
    """The document with the mentions and entities of its sections."""
    before = list(accumulate((len(part.mentions) for part in parts), initial=0))
    mentions = (
        replace(mention, start=mention.start + start, end=mention.end + start)
        for part in parts
        for start in (int(part.attributes["section"]),)
        for mention in part.mentions
    )
    entities = (
        replace(entity, mentions=tuple(index + offset for index in entity.mentions))
        for part, offset in zip(parts, before, strict=False)
        for entity in part.entities
    )
    return document.replace(
        mentions=tuple(mentions), entities=tuple(entities), relations=(), candidates=None
    )
