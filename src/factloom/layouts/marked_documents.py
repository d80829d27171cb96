"""Documents as relation models see them: mentions marked, tokens, entity pairs and their labels.

`MarkedExample` is one document, made once; `MarkedBatch` is several of them as arrays. Mentions,
entities and pairs of all documents of a batch stand in one row each, with index arrays between
them, so that a model needs no loop and no padding for them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document, Relation
from factloom.encoders.tokens import Reader, Tokens
from factloom.encoders.windows import TokenIds
from factloom.errors import ModelError, Place
from factloom.modules.devices import Numbers
from factloom.modules.marked_batch import MarkedBatch
from factloom.text.markers import MarkedText, mark_spans

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MarkedExample:
    """One document with its mentions marked, as token and index arrays."""

    id: str
    token_ids: TokenIds  # (tokens,)
    sentence: Integers  # (tokens,) the sentence of each token, -1 outside of all
    mention_token: Integers  # (mentions,) the opening marker
    mention_entity: Integers  # (mentions,) the entity of each
    entities: int  # how many there are
    pair_index: Integers  # (pairs, 2) head and tail entity, both directions side by side
    label_index: Integers  # (labels, 2) pair and relation
    denied_index: Integers  # (denied, 2) pair and relation that is known not to hold
    unknown_pairs: Integers  # (unknown pairs,) of which nothing else is known
    annotated: Integers | None  # (annotated relations,) beyond which nothing else is known; all
    evidence: tuple[tuple[int, frozenset[int]], ...]  # (pairs with any,) pair and its sentences

    @property
    def tokens(self) -> int:
        return len(self.token_ids)

    @property
    def terms(self) -> int:
        return len(self.pair_index)


def make_examples(
    documents: Iterable[Document], encoder: Reader, relations: Sequence[str], marker: str
) -> list[MarkedExample]:
    """Mark and tokenise; relations of a type that is not in `relations` carry no label."""
    kept = list(documents)
    relation_index = {name: index for index, name in enumerate(relations)}
    mentions = [_entity_mentions(document) for document in kept]
    marked = [
        mark_spans(document.text, [span for span, _ in found], marker)
        for document, found in zip(kept, mentions, strict=True)
    ]
    tokenised = encoder.tokenize([text.text for text in marked])
    return [
        _example(
            document, found, text, tokens, _marker_tokens(document, text, tokens), relation_index
        )
        for document, found, text, tokens in zip(kept, mentions, marked, tokenised, strict=True)
    ]


def make_unmarked_example(
    document: Document, tokens: Tokens, relations: Mapping[str, int]
) -> MarkedExample:
    """From the tokens of the bare text: a mention's first token stands for its marker.

    Where the tokenizer drops that sign, it is the token in front of it. `relations` are numbered.
    """
    mentions = _entity_mentions(document)
    starts = np.asarray([start for (start, _), _ in mentions], dtype=np.int64)
    bare = MarkedText(document.text, opening=starts, origin=np.arange(len(document.text)))
    first = np.searchsorted(tokens.offsets[:, 0], starts, side="right") - 1
    return _example(document, mentions, bare, tokens, np.maximum(first, 0), relations)


def make_batch(
    examples: Sequence[MarkedExample],
    encoder: Reader,
    relations: int,
    rows: Sequence[Integers] | None = None,
) -> MarkedBatch[Numbers]:
    """`rows` are the tokens whose attention is asked for; by default the opening markers'."""
    windows = encoder.lay_out(
        [example.token_ids for example in examples],
        [example.mention_token for example in examples] if rows is None else rows,
    )
    before = len(encoder.special.before)
    offsets = list(accumulate((example.entities for example in examples), initial=0))
    pairs = [e.pair_index + offset for e, offset in zip(examples, offsets, strict=False)]
    pair = np.concatenate(pairs)  # (pairs, 2)
    unordered, pair_unordered = np.unique(np.sort(pair, 1), axis=0, return_inverse=True)
    documents = np.searchsorted(offsets, unordered[:, 0], side="right") - 1
    labels, unknown = _labels(examples, relations)
    evidence = _evidence_targets(examples, before, windows.length)
    return MarkedBatch(
        windows=windows,
        mention_document=_integers(
            np.repeat(np.arange(len(examples)), [len(e.mention_token) for e in examples])
        ),
        mention_slot=_integers(np.concatenate([e.mention_token for e in examples]) + before),
        mention_entity=_integers(
            np.concatenate([e.mention_entity + o for e, o in zip(examples, offsets, strict=False)])
        ),
        entity_counts=tuple(example.entities for example in examples),
        first=_integers(unordered[:, 0]),
        second=_integers(unordered[:, 1]),
        unordered_counts=tuple(np.bincount(documents, minlength=len(examples)).tolist()),
        pair_unordered=_integers(pair_unordered.reshape(-1)),
        pair_head=_integers(pair[:, 0]),
        pair_tail=_integers(pair[:, 1]),
        slot_sentence=_slot_sentences(examples, before, windows.length),
        labels=labels,
        unknown=unknown,
        denied=_denied(examples),
        evidence_pair=_integers(np.asarray([index for index, _ in evidence], dtype=np.int64)),
        evidence_target=np.array([target for _, target in evidence], np.float32).reshape(
            -1, windows.length
        ),
    )


def learn_type_constraints(
    documents: Iterable[Document],
) -> dict[str, list[tuple[str, str]]]:
    """The (head type, tail type) pairs that each relation has in the documents."""
    seen: dict[str, set[tuple[str, str]]] = {}
    for document in documents:
        for relation in document.relations:
            types = (document.entities[relation.head].type, document.entities[relation.tail].type)
            seen.setdefault(relation.type, set()).add(types)
    return {relation: sorted(types) for relation, types in sorted(seen.items())}


def type_mask(
    document: Document,
    pairs: Integers,
    relations: Sequence[str],
    allowed: Mapping[str, Sequence[tuple[str, str]]],
) -> NDArray[np.bool_]:
    """Which relations the types of each pair allow: bool (pairs, relations)."""
    kinds, table = pair_kinds([document], pairs, relations, allowed)
    return table[kinds]


def pair_kinds(
    documents: Sequence[Document],
    pairs: Integers,
    relations: Sequence[str],
    allowed: Mapping[str, Sequence[tuple[str, str]]],
) -> tuple[Integers, NDArray[np.bool_]]:
    """The kind of each pair, its two types, and what each kind allows.

    `pairs` (pairs, 2) are entities through all documents; (pairs,), bool (kinds, relations).
    """
    entities = [entity for document in documents for entity in document.entities]
    types = sorted({entity.type for entity in entities})
    number = {name: index for index, name in enumerate(types)}
    table = np.zeros((len(types), len(types), len(relations)), np.bool_)
    for index, relation in enumerate(relations):
        for head, tail in allowed.get(relation, ()):
            if head in number and tail in number:
                table[number[head], number[tail], index] = True
    entity = np.array([number[entity.type] for entity in entities], np.int64)
    kinds = entity[pairs[:, 0]] * len(types) + entity[pairs[:, 1]]
    return kinds, table.reshape(-1, len(relations))


def _entity_mentions(document: Document) -> list[tuple[tuple[int, int], int]]:
    """Span and entity of every mention that belongs to an entity."""
    return [
        ((document.mentions[mention].start, document.mentions[mention].end), index)
        for index, entity in enumerate(document.entities)
        for mention in entity.mentions
    ]


def _example(
    document: Document,
    mentions: list[tuple[tuple[int, int], int]],
    marked: MarkedText,
    tokens: Tokens,
    mention_token: Integers,
    relation_index: Mapping[str, int],
) -> MarkedExample:
    # both directions of a pair stand side by side
    pairs = sorted(document.pairs(), key=lambda pair: (min(pair), max(pair), pair))
    pair_number = {pair: index for index, pair in enumerate(pairs)}

    def cells(relations: Iterable[Relation]) -> Iterator[tuple[Relation, tuple[int, int]]]:
        """Pair and number of the relations that are asked for."""
        for relation in relations:
            pair = pair_number.get((relation.head, relation.tail))
            if pair is not None and relation.type in relation_index:
                yield relation, (pair, relation_index[relation.type])

    labels, denied = list(cells(document.relations)), list(cells(document.denied))
    evidence: dict[int, frozenset[int]] = {}
    for relation, (pair, _) in labels:
        if relation.evidence:
            evidence[pair] = evidence.get(pair, frozenset()) | set(relation.evidence)
    unknown = [pair_number[pair] for pair in document.unknown if pair in pair_number]
    return MarkedExample(
        id=document.id,
        token_ids=tokens.ids,
        sentence=_token_sentences(document, marked, tokens),
        mention_token=mention_token,
        mention_entity=np.asarray([entity for _, entity in mentions], dtype=np.int64),
        entities=len(document.entities),
        pair_index=np.asarray(pairs, dtype=np.int64).reshape(-1, 2),
        label_index=np.asarray([cell for _, cell in labels], dtype=np.int64).reshape(-1, 2),
        denied_index=np.asarray([cell for _, cell in denied], dtype=np.int64).reshape(-1, 2),
        unknown_pairs=np.asarray(unknown, dtype=np.int64),
        annotated=_numbers(document.annotated, relation_index),
        evidence=tuple(sorted(evidence.items())),
    )


def _numbers(names: Sequence[str] | None, number: Mapping[str, int]) -> Integers | None:
    if names is None:
        return None
    return np.asarray([number[name] for name in names if name in number], dtype=np.int64)


def _marker_tokens(document: Document, marked: MarkedText, tokens: Tokens) -> Integers:
    """The token that holds each mention's opening marker."""
    starts, ends = tokens.offsets[:, 0], tokens.offsets[:, 1]
    found = np.searchsorted(starts, marked.opening, side="right") - 1
    if len(found) and (found.min() < 0 or (ends[found] <= marked.opening).any()):
        raise ModelError("marker-lost", Place(document=document.id))
    return found.astype(np.int64)


def _token_sentences(document: Document, marked: MarkedText, tokens: Tokens) -> Integers:
    """The sentence of each token, -1 outside of all."""
    if not document.sentences or not len(tokens.ids):
        return np.full(len(tokens.ids), -1, dtype=np.int64)
    starts = np.asarray([sentence.start for sentence in document.sentences])
    ends = np.asarray([sentence.end for sentence in document.sentences])
    # a token may begin with the space in front of it, so its last character is looked up;
    # one that is nothing but space may be empty, even behind the last character
    last = np.maximum(tokens.offsets[:, 1] - 1, tokens.offsets[:, 0])
    last = marked.origin[np.minimum(last, len(marked.origin) - 1)]
    sentence = np.searchsorted(starts, last, side="right") - 1
    outside = (sentence < 0) | (last >= ends[sentence])
    return np.where(outside, -1, sentence).astype(np.int64)


def _slot_sentences(examples: Sequence[MarkedExample], before: int, length: int) -> Integers:
    result = np.full((len(examples), length), -1, np.int64)
    for row, example in zip(result, examples, strict=True):
        row[before : before + example.tokens] = example.sentence
    return result


def _labels(
    examples: Sequence[MarkedExample], relations: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which cells hold, and of which nothing is known: bool (pairs, relations) twice."""
    labels = np.zeros((sum(example.terms for example in examples), relations), np.bool_)
    unknown = np.zeros_like(labels)
    for offset, example in _with_pair_offset(examples):
        own_labels, own_unknown = (
            cells[offset : offset + example.terms] for cells in (labels, unknown)
        )
        own_labels[tuple(example.label_index.T)] = True
        if example.annotated is not None:
            own_unknown[:] = True
            own_unknown[:, example.annotated] = False
        own_unknown[example.unknown_pairs] = True
        for stated in (example.label_index, example.denied_index):
            own_unknown[tuple(stated.T)] = False
    return labels, unknown


def _denied(examples: Sequence[MarkedExample]) -> Integers:
    """(denied, 2) pair of the batch and relation"""
    cells = [np.add(each.denied_index, (offset, 0)) for offset, each in _with_pair_offset(examples)]
    return _integers(np.concatenate(cells))


def _evidence_targets(
    examples: Sequence[MarkedExample], before: int, length: int
) -> list[tuple[int, NDArray[np.float32]]]:
    """For pairs with gold evidence the distribution over its tokens."""
    evidence = []
    for offset, example in _with_pair_offset(examples):
        for pair, sentences in example.evidence:
            inside = np.isin(example.sentence, list(sentences))
            if inside.any():
                target = np.zeros(length, np.float32)
                target[before : before + example.tokens] = inside / inside.sum()
                evidence.append((pair + offset, target))
    return evidence


def _with_pair_offset(examples: Sequence[MarkedExample]) -> Iterator[tuple[int, MarkedExample]]:
    offset = 0
    for example in examples:
        yield offset, example
        offset += example.terms


def _integers(values: Integers) -> Integers:
    return np.ascontiguousarray(values, dtype=np.int64)
