"""Documents as coreference sees them: the tokens of mentions, and pairs of mentions.

`MentionExample` is one document, made once; `MentionBatch` is several of them as arrays. The
mentions and pairs of all documents of a batch stand in one row each.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document
from factloom.encoders.tokens import Tokens
from factloom.encoders.windows import TokenIds
from factloom.errors import ModelError, Place
from factloom.layouts.words import word_tokens
from factloom.modules.devices import Numbers
from factloom.modules.mention_batch import DISTANCES, FEATURES, MentionBatch
from factloom.text.names import NameTable

Integers = NDArray[np.int64]

PEOPLE = frozenset({"per", "person"})  # types, in small letters


@dataclass(frozen=True, slots=True)
class MentionExample:
    """One document as index arrays over its mentions, in their order in the document."""

    id: str
    token_ids: TokenIds  # (tokens,)
    first: Integers  # (mentions,) first token of each mention
    last: Integers  # (mentions,) last token
    type: Integers  # (mentions,) number of its type, the last one for unknown types
    left: Integers  # (pairs,) mention
    right: Integers  # (pairs,) mention behind it
    features: NDArray[np.float32]  # (pairs, FEATURES) how alike the names are
    sentence_distance: Integers  # (pairs,) a class of `DISTANCES`
    mention_distance: Integers  # (pairs,) likewise, counted in mentions
    different: NDArray[np.bool_]  # (pairs,) whether numbers tell them apart, or one is a namesake
    alike: NDArray[np.bool_]  # (pairs,) one spelling and type, or bare and only full name
    same: NDArray[np.bool_]  # (pairs,) whether both are of one entity

    @property
    def tokens(self) -> int:
        return len(self.token_ids)

    @property
    def terms(self) -> int:
        return len(self.left)

    @property
    def rows(self) -> Integers:
        """(mention tokens,) the tokens of all mentions, mention by mention"""
        return token_rows(self.first, self.last)


def make_example(
    document: Document, tokens: Tokens, types: Mapping[str, int], reach: int
) -> MentionExample:
    """`types` numbers the known types from 0; `reach` is that of `NameTable.pairs`."""
    alone = make_unpaired_example(document, tokens, types)
    starts, kinds = np.array([m.start for m in document.mentions], np.int64), alone.type
    texts = [document.mention_text(index) for index in range(len(starts))]
    names, people = NameTable.of(texts), _people(document)
    order = np.argsort(starts, kind="stable")  # in the text
    left, right = (order[places] for places in names_in(order, names).pairs(reach))
    rank = np.argsort(order)
    entity, sentence = entities_of(document), _sentences(document)
    return dataclasses.replace(
        alone,
        left=left,
        right=right,
        features=np.column_stack(
            [names.overlap(left, right), (kinds[left] == kinds[right]).astype(np.float32)]
        ),
        sentence_distance=distance_class(np.abs(sentence[right] - sentence[left])),
        mention_distance=distance_class(rank[right] - rank[left]),
        different=names.different(left, right) | _named_after(texts, people, left, right),
        alike=(names.name[left] == names.name[right]) & (kinds[left] == kinds[right])
        | names.bare_name(left, right, people),
        same=(entity[left] == entity[right]) & (entity[left] >= 0),
    )


def make_unpaired_example(
    document: Document, tokens: Tokens, types: Mapping[str, int]
) -> MentionExample:
    """Where no mention is compared with another: their entities are known."""
    spans = np.array([(m.start, m.end) for m in document.mentions], np.int64).reshape(-1, 2)
    if len(spans) and not len(tokens.ids):
        raise ModelError("no-token-at-all", Place(document=document.id))
    first, last = token_spans(spans, tokens)
    none, never = np.zeros(0, np.int64), np.zeros(0, np.bool_)
    return MentionExample(
        id=document.id,
        token_ids=tokens.ids,
        first=first,
        last=last,
        type=np.array([types.get(m.type, len(types)) for m in document.mentions], np.int64),
        left=none,
        right=none,
        features=np.zeros((0, FEATURES), np.float32),
        sentence_distance=none,
        mention_distance=none,
        different=never,
        alike=never,
        same=never,
    )


def token_spans(spans: Integers, tokens: Tokens) -> tuple[Integers, Integers]:
    """The first and last token of spans (spans, 2) of a text that has tokens: (spans,) twice."""
    first, last = word_tokens(spans, tokens.offsets)
    first = np.minimum(first, len(tokens.ids) - 1)
    return first, np.maximum(first, last)  # a sign that is dropped has its neighbour's token


def token_rows(first: Integers, last: Integers) -> Integers:
    """(span tokens,) the tokens of all spans, span by span"""
    count = last - first + 1
    number = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    rows: Integers = np.repeat(first, count) + number
    return rows


def names_in(order: Integers, names: NameTable) -> NameTable:
    """The table for mentions that stand in another order."""
    return dataclasses.replace(names, name=names.name[order])


def make_batch(
    examples: Sequence[MentionExample], before: int, length: int
) -> MentionBatch[Numbers]:
    """`length` slots a document, its first token in slot `before`."""
    offsets = list(accumulate((len(example.type) for example in examples), initial=0))[:-1]
    rows = [e.rows + before + index * length for index, e in enumerate(examples)]
    counts = [example.last - example.first + 1 for example in examples]

    def shifted(parts: Sequence[Integers]) -> Integers:
        return np.concatenate([part + offset for part, offset in zip(parts, offsets, strict=True)])

    return MentionBatch(
        token_slot=np.concatenate(rows),
        token_mention=shifted([np.repeat(np.arange(len(count)), count) for count in counts]),
        type=np.concatenate([example.type for example in examples]),
        left=shifted([example.left for example in examples]),
        right=shifted([example.right for example in examples]),
        features=np.concatenate([example.features for example in examples]),
        sentence_distance=np.concatenate([example.sentence_distance for example in examples]),
        mention_distance=np.concatenate([example.mention_distance for example in examples]),
        same=np.concatenate([example.same for example in examples]),
        pair_counts=tuple(example.terms for example in examples),
    )


def entities_of(document: Document) -> Integers:
    """(mentions,) the entity of each, -1 for none"""
    found = np.full(len(document.mentions), -1)
    for index, entity in enumerate(document.entities):
        found[list(entity.mentions)] = index
    return found


def _named_after(
    names: Sequence[str], people: NDArray[np.bool_], left: Integers, right: Integers
) -> NDArray[np.bool_]:
    """(pairs,) whether one is a person, and the other, a museum or a prize, holds that name."""
    namesakes = np.zeros(len(left), np.bool_)
    for pair in np.flatnonzero(people[left] != people[right]).tolist():
        person, other = left[pair], right[pair]
        if not people[person]:
            person, other = other, person
        namesakes[pair] = names[person] != names[other] and names[person] in names[other]
    return namesakes


def _people(document: Document) -> NDArray[np.bool_]:
    """(mentions,)"""
    return np.array([m.type.casefold() in PEOPLE for m in document.mentions], np.bool_)


def _sentences(document: Document) -> Integers:
    """(mentions,) the sentence of each, 0 where there are none"""
    found = (document.sentence_at(mention.start) for mention in document.mentions)
    return np.array([sentence or 0 for sentence in found], np.int64)


def distance_class(distance: Integers) -> Integers:
    """0, 1, 2 to 3, 4 to 7, ..."""
    return np.minimum(np.ceil(np.log2(distance + 1)), DISTANCES - 1).astype(np.int64)
