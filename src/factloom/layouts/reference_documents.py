"""Documents as the resolution of pronouns sees them: references, and pairs of each with names."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document, Span
from factloom.encoders.tokens import Tokens
from factloom.layouts.mention_documents import distance_class, entities_of, token_rows, token_spans
from factloom.modules.devices import Numbers
from factloom.modules.mention_batch import DISTANCES
from factloom.modules.reference_batch import ReferenceBatch
from factloom.text.covered import Covered
from factloom.text.pronouns import pronoun_group
from factloom.text.references import ReferenceWords, names_of, share_description

Integers = NDArray[np.int64]

REACH = 60  # names on either side that a reference is compared with


@dataclass(frozen=True, slots=True)
class ReferenceExample:
    """One document whose names are known, as index arrays over words that may stand for them."""

    spans: tuple[Span, ...]  # of the references
    first: Integers  # (references,) first token
    last: Integers  # (references,) last token
    group: Integers  # (references,) of its pronoun
    reference: Integers  # (pairs,) rising
    name: Integers  # (pairs,) a mention of the document without others than names
    entity: Integers  # (pairs,) that of the name
    described: NDArray[np.float32]  # (pairs,) whether the name holds what the nominal says
    sentence_distance: Integers  # (pairs,) a class
    name_distance: Integers  # (pairs,) a class
    right: NDArray[np.bool_]  # (pairs,) whether the document has both in one entity
    known: NDArray[np.bool_]  # (references,) whether it marks them, or nothing that overlaps them


def make_example(document: Document, tokens: Tokens, words: ReferenceWords) -> ReferenceExample:
    """The document's own pronouns and nominals are what is right."""
    spans = words.places(document.text, names_of(document)) if len(tokens.ids) else []
    places = np.array(spans, np.int64).reshape(-1, 2)
    first, last = token_spans(places, tokens)
    texts = [document.text[start:end] for start, end in spans]
    entity = entities_of(document)
    names = _names(document, entity)
    starts = np.array([document.mentions[index].start for index in names.tolist()], np.int64)
    # how many names stand in front of each reference
    front = np.searchsorted(starts, places[:, 0]).astype(np.int64)
    reference, place = _near(front, len(names))
    ahead = place >= front[reference]
    distance = np.where(ahead, place - front[reference], front[reference] - 1 - place)
    sentences = _sentences(document, starts)[place] - _sentences(document, places[:, 0])[reference]
    described = np.array(
        share_description(texts, [document.mention_text(index) for index in names.tolist()]),
        np.float32,
    ).reshape(len(spans), len(names))
    meant, known = _meant(document, spans, entity)
    return ReferenceExample(
        spans=tuple(spans),
        first=first,
        last=last,
        group=np.array([pronoun_group(text) for text in texts], np.int64),
        reference=reference,
        name=_among_names(document)[names[place]],
        entity=entity[names[place]],
        described=described[reference, place],
        sentence_distance=distance_class(np.abs(sentences)) + DISTANCES * ahead,
        name_distance=distance_class(distance) + DISTANCES * ahead,
        right=entity[names[place]] == meant[reference],
        known=known,
    )


def make_batch(
    examples: Sequence[ReferenceExample | None], names: Sequence[int], before: int, length: int
) -> ReferenceBatch[Numbers]:
    """`names` are the mentions of each document, which has `length` slots; None has no references.

    Its first token is in slot `before`.
    """
    first_name = accumulate(names, initial=0)
    have = [
        (example, name, before + number * length)
        for number, (example, name) in enumerate(zip(examples, first_name, strict=False))
        if example is not None
    ]
    found = [example for example, _, _ in have]
    offsets = list(accumulate((len(example.spans) for example in found), initial=0))[:-1]

    def joined(parts: Sequence[Numbers], kind: type = np.int64) -> Numbers:
        return np.concatenate([np.zeros(0, kind), *parts]).astype(kind)

    def shifted(parts: Sequence[Integers]) -> Numbers:
        return joined([part + start for part, start in zip(parts, offsets, strict=True)])

    counts = [example.last - example.first + 1 for example in found]
    return ReferenceBatch(
        token_slot=joined([token_rows(one.first, one.last) + slot for one, _, slot in have]),
        token_reference=shifted([np.repeat(np.arange(len(count)), count) for count in counts]),
        group=joined([example.group for example in found]),
        reference=shifted([example.reference for example in found]),
        name=joined([example.name + name for example, name, _ in have]),
        described=joined([example.described for example in found], np.float32),
        sentence_distance=joined([example.sentence_distance for example in found]),
        name_distance=joined([example.name_distance for example in found]),
        right=joined([example.right for example in found], np.bool_),
        known=joined([example.known for example in found], np.bool_),
        pair_counts=tuple(0 if one is None else len(one.reference) for one in examples),
    )


def _names(document: Document, entity: Integers) -> Integers:
    """(names,) the mentions that are names of an entity, in the order of the text"""
    names = [
        index
        for index, mention in enumerate(document.mentions)
        if mention.kind == "name" and entity[index] >= 0
    ]
    return np.array(sorted(names, key=lambda index: document.mentions[index].start), np.int64)


def _among_names(document: Document) -> Integers:
    """(mentions,) how many names are in front of each, in the order of the mentions"""
    found = np.cumsum([0, *(mention.kind == "name" for mention in document.mentions)])
    return found[:-1].astype(np.int64)


def _near(front: Integers, names: int) -> tuple[Integers, Integers]:
    """(pairs,) the references and the names within reach of them"""
    lowest, highest = np.maximum(front - REACH, 0), np.minimum(front + REACH, names)
    count = highest - lowest  # (references,)
    reference = np.repeat(np.arange(len(front)), count)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return reference, lowest[reference] + within


def _sentences(document: Document, starts: Integers) -> Integers:
    """(starts,) the sentence in which each lies, 0 where there is none"""
    return np.array([document.sentence_at(start) or 0 for start in starts.tolist()], np.int64)


def _meant(
    document: Document, spans: Sequence[Span], entity: Integers
) -> tuple[Integers, NDArray[np.bool_]]:
    """(references,) the entity that each stands for, -2 for none, and whether that is known."""
    others = [(m, n) for n, m in enumerate(document.mentions) if m.kind != "name"]
    marked = {(mention.start, mention.end): int(entity[number]) for mention, number in others}
    covered = Covered(marked)
    meant = [marked.get(span, -2) for span in spans]
    known = [span in marked or not covered.touches(*span) for span in spans]
    return np.array(meant, np.int64), np.array(known, np.bool_)
