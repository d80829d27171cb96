"""Documents as relation models see them: mentions marked, tokens, entity pairs and their labels.

`MarkedExample` is one document, made once; `MarkedBatch` is several of them as tensors. Mentions,
entities and pairs of all documents of a batch stand in one row each, with index tensors between
them, so that a model needs no loop and no padding for them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from factloom.document import Document
from factloom.encoders.devices import moved
from factloom.encoders.encoder import Encoded, Encoder, Tokens
from factloom.encoders.windows import TokenIds, WindowBatch
from factloom.errors import ModelError, Place
from factloom.text.markers import MarkedText, mark_spans

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MarkedExample:
    """One document with its mentions marked, as token and index arrays."""

    id: str
    token_ids: TokenIds  # (tokens,)
    sentence: Integers  # (tokens,) the sentence of each token, -1 outside of all
    mention_token: Integers  # (mentions,) the opening marker
    mention_entity: Integers  # (mentions,)
    entities: int
    pair_index: Integers  # (pairs, 2) head and tail entity, both directions side by side
    label_index: Integers  # (labels, 2) pair and relation
    evidence: tuple[tuple[int, frozenset[int]], ...]  # pair and its gold evidence sentences

    @property
    def tokens(self) -> int:
        return len(self.token_ids)

    @property
    def pairs(self) -> int:
        return len(self.pair_index)


@dataclass(frozen=True, slots=True)
class MarkedBatch:
    """Several documents as tensors; `entity` indices count through the whole batch."""

    windows: WindowBatch
    mention_document: Tensor  # (mentions,)
    mention_slot: Tensor  # (mentions,)
    mention_entity: Tensor  # (mentions,)
    entity_counts: tuple[int, ...]  # entities of each document
    first: Tensor  # (unordered pairs,) entity, rising
    second: Tensor  # (unordered pairs,) entity
    unordered_counts: tuple[int, ...]  # unordered pairs of each document
    pair_unordered: Tensor  # (pairs,)
    pair_head: Tensor  # (pairs,) entity
    pair_tail: Tensor  # (pairs,) entity
    slot_sentence: Tensor  # (documents, length) sentence, -1 outside of all
    labels: Tensor  # bool (pairs, relations)
    evidence_pair: Tensor  # (pairs with gold evidence,)
    evidence_target: Tensor  # (pairs with gold evidence, length) uniform over evidence tokens

    @property
    def entities(self) -> int:
        return sum(self.entity_counts)

    @property
    def entity_document(self) -> Tensor:
        """(entities,)"""
        counts = torch.tensor(self.entity_counts, device=self.first.device)
        return torch.repeat_interleave(counts)

    @property
    def weight(self) -> int:
        """How many terms the loss averages over."""
        return len(self.pair_head)

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)

    def mention_states(self, encoded: Encoded) -> Tensor:
        """(mentions, width) the states of the opening markers"""
        return encoded.states[self.mention_document, self.mention_slot]


def make_examples(
    documents: Iterable[Document], encoder: Encoder, relations: Sequence[str], marker: str
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
    """The same from the tokens of the bare text: a mention's first token stands for its marker.

    Where the tokenizer drops that sign, it is the token in front of it. `relations` are numbered.
    """
    mentions = _entity_mentions(document)
    starts = np.asarray([start for (start, _), _ in mentions], dtype=np.int64)
    bare = MarkedText(document.text, opening=starts, origin=np.arange(len(document.text)))
    first = np.searchsorted(tokens.offsets[:, 0], starts, side="right") - 1
    return _example(document, mentions, bare, tokens, np.maximum(first, 0), relations)


def make_batch(
    examples: Sequence[MarkedExample],
    encoder: Encoder,
    relations: int,
    rows: Sequence[Integers] | None = None,
) -> MarkedBatch:
    """`rows` are the tokens whose attention is asked for; by default the opening markers'."""
    windows = encoder.batch(
        [example.token_ids for example in examples],
        [example.mention_token for example in examples] if rows is None else rows,
    )
    before = len(encoder.special.before)
    offsets = list(accumulate((example.entities for example in examples), initial=0))
    pairs = [e.pair_index + offset for e, offset in zip(examples, offsets, strict=False)]
    pair = np.concatenate(pairs)  # (pairs, 2)
    unordered, pair_unordered = np.unique(np.sort(pair, 1), axis=0, return_inverse=True)
    documents = np.searchsorted(offsets, unordered[:, 0], side="right") - 1
    labels, evidence = _targets(examples, relations, before, windows.length)
    return MarkedBatch(
        windows=windows,
        mention_document=_tensor(
            np.repeat(np.arange(len(examples)), [len(e.mention_token) for e in examples])
        ),
        mention_slot=_tensor(np.concatenate([e.mention_token for e in examples]) + before),
        mention_entity=_tensor(
            np.concatenate([e.mention_entity + o for e, o in zip(examples, offsets, strict=False)])
        ),
        entity_counts=tuple(example.entities for example in examples),
        first=_tensor(unordered[:, 0]),
        second=_tensor(unordered[:, 1]),
        unordered_counts=tuple(np.bincount(documents, minlength=len(examples)).tolist()),
        pair_unordered=_tensor(pair_unordered.reshape(-1)),
        pair_head=_tensor(pair[:, 0]),
        pair_tail=_tensor(pair[:, 1]),
        slot_sentence=_slot_sentences(examples, before, windows.length),
        labels=labels,
        evidence_pair=_tensor(np.asarray([index for index, _ in evidence], dtype=np.int64)),
        evidence_target=torch.stack([target for _, target in evidence])
        if evidence
        else torch.zeros(0, windows.length),
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
) -> Tensor:
    """Which relations the types of each pair allow: bool (pairs, relations)."""
    types = sorted({entity.type for entity in document.entities})
    number = {name: index for index, name in enumerate(types)}
    table = torch.zeros(len(types), len(types), len(relations), dtype=torch.bool)
    for index, relation in enumerate(relations):
        for head, tail in allowed.get(relation, ()):
            if head in number and tail in number:
                table[number[head], number[tail], index] = True
    entity = torch.tensor([number[entity.type] for entity in document.entities], dtype=torch.long)
    pair = torch.from_numpy(pairs)
    return table[entity[pair[:, 0]], entity[pair[:, 1]]]


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
    labels: list[tuple[int, int]] = []
    evidence: dict[int, frozenset[int]] = {}
    for relation in document.relations:
        number = pair_number.get((relation.head, relation.tail))
        if number is None or relation.type not in relation_index:
            continue
        labels.append((number, relation_index[relation.type]))
        if relation.evidence:
            evidence[number] = evidence.get(number, frozenset()) | set(relation.evidence)
    return MarkedExample(
        id=document.id,
        token_ids=tokens.ids,
        sentence=_token_sentences(document, marked, tokens),
        mention_token=mention_token,
        mention_entity=np.asarray([entity for _, entity in mentions], dtype=np.int64),
        entities=len(document.entities),
        pair_index=np.asarray(pairs, dtype=np.int64).reshape(-1, 2),
        label_index=np.asarray(labels, dtype=np.int64).reshape(-1, 2),
        evidence=tuple(sorted(evidence.items())),
    )


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


def _slot_sentences(examples: Sequence[MarkedExample], before: int, length: int) -> Tensor:
    result = torch.full((len(examples), length), -1)
    for row, example in zip(result, examples, strict=True):
        row[before : before + example.tokens] = torch.from_numpy(example.sentence)
    return result


def _targets(
    examples: Sequence[MarkedExample], relations: int, before: int, length: int
) -> tuple[Tensor, list[tuple[int, Tensor]]]:
    """Labels of all pairs, and for pairs with gold evidence the distribution over its tokens."""
    labels = torch.zeros(sum(example.pairs for example in examples), relations, dtype=torch.bool)
    evidence = []
    for offset, example in _with_pair_offset(examples):
        index = torch.from_numpy(example.label_index)
        labels[index[:, 0] + offset, index[:, 1]] = True
        for pair, sentences in example.evidence:
            inside = np.isin(example.sentence, list(sentences))
            if inside.any():
                target = torch.zeros(length)
                target[before : before + example.tokens] = torch.from_numpy(inside / inside.sum())
                evidence.append((pair + offset, target))
    return labels, evidence


def _with_pair_offset(examples: Sequence[MarkedExample]) -> Iterator[tuple[int, MarkedExample]]:
    offset = 0
    for example in examples:
        yield offset, example
        offset += example.pairs


def _tensor(values: Integers) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64))
