"""A long document as overlapping stretches, each asked for its relations, and put together again.

Pairs of entities grow with the square of a document's length, and what two names far apart from
each other have in common no encoder window has seen. So a document of more than `most` tokens is
cut into stretches of whole sentences; neighbours share up to a quarter of their tokens. A relation
that several stretches hold is kept with its highest score. Two entities that never come together
within one stretch are not asked.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document, Relation, Sentence
from factloom.explanations import renumbered
from factloom.text.sentences import find_sentences

Relate = Callable[[list[Document]], list[Document]]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of a document as one of its own, and what its numbers are in the whole."""

    document: Document
    sentences: tuple[int, ...]
    entities: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is not cut: a sentence, or as much of a very long one as a stretch holds."""

    start: int
    end: int
    sentence: int
    tokens: int


def relate_in_stretches(
    document: Document, offsets: NDArray[np.int64], most: int, relate: Relate
) -> Document:
    """The document with the relations that `relate` finds in its stretches.

    `offsets` (tokens, 2) are those of its tokens.
    """
    stretches = list(cut(document, offsets, most))
    related = relate([stretch.document for stretch in stretches])
    found: dict[tuple[int, int, str], Relation] = {}
    for stretch, part in zip(stretches, related, strict=True):
        for relation in part.relations:
            whole = replace(
                relation,
                head=stretch.entities[relation.head],
                tail=stretch.entities[relation.tail],
                evidence=tuple(sorted({stretch.sentences[s] for s in relation.evidence})),
                provenance=renumbered(relation.provenance, stretch.entities),
            )
            key = (whole.head, whole.tail, whole.type)
            if key not in found or (whole.score or 0) > (found[key].score or 0):
                found[key] = whole
    return document.replace(relations=tuple(found[key] for key in sorted(found)))


def cut(document: Document, offsets: NDArray[np.int64], most: int) -> Iterator[Stretch]:
    """The stretches of at most `most` tokens, in the order of the text."""
    units = list(_units(document, offsets, most))
    first = 0
    while first < len(units):
        last = first
        tokens = units[first].tokens
        while last + 1 < len(units) and tokens + units[last + 1].tokens <= most:
            last += 1
            tokens += units[last].tokens
        yield _stretch(document, units[first : last + 1])
        if last + 1 == len(units):
            return
        first = _back(units, first, last + 1, most)


def _back(units: Sequence[_Unit], begun: int, following: int, most: int) -> int:
    """Where the stretch begins whose first new unit is `following`."""
    first = following
    shared = 0
    room = min(most // 4, most - units[following].tokens)
    while first - 1 > begun and shared + units[first - 1].tokens <= room:
        first -= 1
        shared += units[first].tokens
    return first


def _units(document: Document, offsets: NDArray[np.int64], most: int) -> Iterator[_Unit]:
    sentences = document.sentences or find_sentences(document.text)
    for number, sentence in enumerate(sentences):
        first, last = np.searchsorted(offsets[:, 0], [sentence.start, sentence.end])
        pieces = range(int(first), max(int(last), int(first) + 1), most)
        for piece in pieces:
            ends = min(piece + most, int(last))
            yield _Unit(
                start=sentence.start if piece == pieces[0] else int(offsets[piece, 0]),
                end=sentence.end if piece == pieces[-1] else int(offsets[ends, 0]),
                sentence=number,
                tokens=ends - piece,
            )


def _stretch(document: Document, units: Sequence[_Unit]) -> Stretch:
    start, end = units[0].start, units[-1].end
    inside = [n for n, m in enumerate(document.mentions) if start <= m.start and m.end <= end]
    of_mention = {number: index for index, number in enumerate(inside)}
    mentions = [
        replace(found, start=found.start - start, end=found.end - start)
        for found in (document.mentions[number] for number in inside)
    ]
    kept = {
        number: tuple(of_mention[mention] for mention in entity.mentions if mention in of_mention)
        for number, entity in enumerate(document.entities)
    }
    kept = {number: own for number, own in kept.items() if own}
    part = Document(
        text=document.text[start:end],
        id=document.id,
        sentences=tuple(Sentence(unit.start - start, unit.end - start) for unit in units),
        mentions=tuple(mentions),
        entities=tuple(replace(document.entities[n], mentions=own) for n, own in kept.items()),
        candidates=_candidates(document, list(kept)),
    )
    return Stretch(part, tuple(unit.sentence for unit in units), tuple(kept))


def _candidates(document: Document, entities: list[int]) -> tuple[tuple[int, int], ...] | None:
    if document.candidates is None:
        return None
    index = {number: place for place, number in enumerate(entities)}
    return tuple((index[h], index[t]) for h, t in document.candidates if {h, t} <= index.keys())
