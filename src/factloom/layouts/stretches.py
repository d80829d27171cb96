"""A long document as overlapping stretches, each asked for its relations, and put together again.

Pairs of entities grow with the square of a document's length, and what two names far apart from
each other have in common no encoder window has seen. So a document of more than `most` tokens is
cut into stretches of whole sentences; neighbours share up to a quarter of their tokens. A sentence
that no stretch can hold is cut into parts of up to a quarter, between its mentions: every mention
of up to `most` tokens is whole in one stretch. A relation that several stretches hold is kept with
its highest score. Two entities that never come together within one stretch are not asked. A few
stretches are asked at a time, so that a long document needs no more memory than a short one.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, groupby, islice, pairwise

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document, Mention, Relation, Sentence
from factloom.explanations import renumbered
from factloom.text.cutting import end_of_run
from factloom.text.sentences import find_sentences

Relate = Callable[[list[Document]], list[Document]]

AT_ONCE = 64  # stretches that are asked together


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of a document as one of its own, and what its numbers are in the whole."""

    document: Document
    sentences: tuple[int, ...]
    entities: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is not cut: a sentence, or a part of one that no stretch can hold."""

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
    found: dict[tuple[int, int, str], Relation] = {}
    for stretch, part in _related(cut(document, offsets, most), relate):
        for relation in part.relations:
            whole = replace(
                relation,
                head=stretch.entities[relation.head],
                tail=stretch.entities[relation.tail],
                evidence=_evidence(document, stretch, relation),
                provenance=renumbered(relation.provenance, stretch.entities),
            )
            key = (whole.head, whole.tail, whole.type)
            if key not in found or (whole.score or 0) > (found[key].score or 0):
                found[key] = whole
    in_order = tuple(found[key] for key in sorted(found))
    return document.without_relations().replace(relations=in_order)


def _related(stretches: Iterator[Stretch], relate: Relate) -> Iterator[tuple[Stretch, Document]]:
    """The stretches that may hold relations, each with its document as `relate` gives it back."""
    asked = (stretch for stretch in stretches if len(stretch.entities) > 1)
    while group := list(islice(asked, AT_ONCE)):
        yield from zip(group, relate([stretch.document for stretch in group]), strict=True)


def _evidence(document: Document, stretch: Stretch, relation: Relation) -> tuple[int, ...]:
    """By the document's own sentences; a document that has none has no evidence either."""
    if not document.sentences:
        return ()
    return tuple(sorted({stretch.sentences[sentence] for sentence in relation.evidence}))


class _Mentions:
    """The mentions of a document by their places in the text: none is looked at in vain."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.order = sorted(
            range(len(document.mentions)), key=lambda number: document.mentions[number].start
        )
        self.starts = [document.mentions[number].start for number in self.order]
        self.longest = max((m.end - m.start for m in document.mentions), default=0)

    def within(self, start: int, end: int) -> list[int]:
        """The numbers of the mentions that begin and end there, rising."""
        begun = self.order[bisect_left(self.starts, start) : bisect_left(self.starts, end)]
        return sorted(number for number in begun if self.document.mentions[number].end <= end)

    def touching(self, start: int, end: int) -> Iterator[Mention]:
        """The mentions that share a character with the span."""
        first = bisect_left(self.starts, start - self.longest)
        for number in self.order[first : bisect_left(self.starts, end)]:
            if self.document.mentions[number].end > start:
                yield self.document.mentions[number]

    @cached_property
    def owners(self) -> dict[int, list[tuple[int, int]]]:
        """By mention: the entities that have it, and its place among the entity's mentions."""
        owners: dict[int, list[tuple[int, int]]] = {}
        for entity, own in enumerate(self.document.entities):
            for place, mention in enumerate(own.mentions):
                owners.setdefault(mention, []).append((entity, place))
        return owners


def cut(document: Document, offsets: NDArray[np.int64], most: int) -> Iterator[Stretch]:
    """The stretches of at most `most` tokens, in the order of the text."""
    mentions = _Mentions(document)
    units = list(_units(document, mentions, offsets, most))
    ends = list(accumulate(unit.tokens for unit in units))
    starts = [0, *ends]
    first = following = 0
    while following < len(units):
        following = end_of_run(starts, ends, first, most)
        yield _stretch(document, mentions, units[first:following])
        if following < len(units):
            torn = _torn(mentions, units, first, following, most)
            first = min([_back(units, first, following, most), *torn])


def _back(units: Sequence[_Unit], begun: int, following: int, most: int) -> int:
    """Where the stretch begins whose first new unit is `following`."""
    first = following
    shared = 0
    room = min(most // 4, most - units[following].tokens)
    while first - 1 > begun and shared + units[first - 1].tokens <= room:
        first -= 1
        shared += units[first].tokens
    return first


def _torn(
    mentions: _Mentions, units: Sequence[_Unit], begun: int, following: int, most: int
) -> Iterator[int]:
    """Where mentions begin that go on in the unit `following`, and that one stretch can hold."""
    border = units[following].start
    for mention in mentions.touching(border, border + 1):
        if mention.start < border:
            first = bisect_right(units, mention.start, key=lambda unit: unit.start) - 1
            end = bisect_left(units, mention.end, key=lambda unit: unit.start)
            if first > begun and sum(unit.tokens for unit in units[first:end]) <= most:
                yield first


def _units(
    document: Document, mentions: _Mentions, offsets: NDArray[np.int64], most: int
) -> Iterator[_Unit]:
    spans = [(mention.start, mention.end) for mention in document.mentions]
    sentences = document.sentences or find_sentences(document.text, whole=spans)
    for number, sentence in enumerate(sentences):
        first, last = map(int, np.searchsorted(offsets[:, 0], [sentence.start, sentence.end]))
        cuts = [first, last]
        if last - first > most:
            inside = list(mentions.touching(sentence.start, sentence.end))
            cuts = _cuts(first, last, _token_spans(inside, offsets, first, last), most)
        for begin, end in pairwise(cuts):
            yield _Unit(
                start=sentence.start if begin == first else int(offsets[begin, 0]),
                end=sentence.end if end == last else int(offsets[end, 0]),
                sentence=number,
                tokens=end - begin,
            )


def _token_spans(
    mentions: Sequence[Mention], offsets: NDArray[np.int64], first: int, last: int
) -> list[tuple[int, int]]:
    """First and end token of the mentions, as far as they lie between two tokens."""
    starts = offsets[first:last, 0]
    begins = np.searchsorted(starts, [mention.start for mention in mentions], "right") - 1
    ends = np.searchsorted(starts, [mention.end for mention in mentions])
    spans = zip((first + begins.clip(0)).tolist(), (first + ends).tolist(), strict=True)
    return [(begin, end) for begin, end in spans if begin < end]


def _cuts(first: int, last: int, spans: Sequence[tuple[int, int]], most: int) -> list[int]:
    """Where a very long sentence is cut: outside of mentions, and into small parts if possible."""
    size = max(most // 4, 1)
    whole = [span for span in spans if span[1] - span[0] <= most]
    cuts = [first]
    for begin, end in pairwise(_outside(first, last, whole)):
        if end - begin > most:  # mentions that overlap: some stretch begins with each of them
            edges = {edge for span in whole for edge in span if begin < edge < end}
            cuts += sorted({*range(begin, end, size), *edges, end})
        elif end - cuts[-1] > size:
            cuts.append(begin)
    return sorted({*cuts, last})


def _outside(first: int, last: int, spans: Sequence[tuple[int, int]]) -> list[int]:
    """The tokens in front of which no mention is cut; and the end."""
    inside = np.zeros(last - first + 1, bool)
    for begin, end in spans:
        inside[begin + 1 - first : end - first] = True
    return (first + np.flatnonzero(~inside)).tolist()


def _stretch(document: Document, places: _Mentions, units: Sequence[_Unit]) -> Stretch:
    start, end = units[0].start, units[-1].end
    inside = places.within(start, end)
    of_mention = {number: index for index, number in enumerate(inside)}
    mentions = [
        replace(found, start=found.start - start, end=found.end - start)
        for found in (document.mentions[number] for number in inside)
    ]
    own: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for number in inside:
        for entity, place in places.owners.get(number, ()):
            own[entity].append((place, of_mention[number]))
    kept = {entity: tuple(index for _, index in sorted(own[entity])) for entity in sorted(own)}
    sentences = {
        number: list(parts) for number, parts in groupby(units, key=lambda unit: unit.sentence)
    }
    part = Document(
        text=document.text[start:end],
        id=document.id,
        sentences=tuple(
            Sentence(parts[0].start - start, parts[-1].end - start) for parts in sentences.values()
        ),
        mentions=tuple(mentions),
        entities=tuple(replace(document.entities[n], mentions=m) for n, m in kept.items()),
        candidates=_candidates(document, list(kept)),
    )
    return Stretch(part, tuple(sentences), tuple(kept))


def _candidates(document: Document, entities: list[int]) -> tuple[tuple[int, int], ...] | None:
    if document.candidates is None:
        return None
    index = {number: place for place, number in enumerate(entities)}
    return tuple((index[h], index[t]) for h, t in document.candidates if {h, t} <= index.keys())
