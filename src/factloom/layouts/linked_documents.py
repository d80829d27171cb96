"""Documents as linkers see them: the tokens of entities' mentions, and what each may stand for.

`LinkExample` is one document, made once; `LinkBatch` is several of them as tensors. A mention is
read in every window that holds it whole: these are its uses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from factloom.document import Document
from factloom.encoders.tokens import Tokens
from factloom.encoders.windows import TokenIds
from factloom.errors import ModelError, Place
from factloom.layouts.words import word_tokens
from factloom.modules.devices import moved
from factloom.modules.pooling import segment_mean
from factloom.modules.text_spans import TextSpans, spans_in_windows
from factloom.modules.windows import WindowBatch

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinkExample:
    """One document as index arrays over the mentions of its entities, entity by entity."""

    id: str
    token_ids: TokenIds  # (tokens,)
    first: Integers  # (mentions,) first token
    last: Integers  # (mentions,) last token
    entity: Integers  # (mentions,) number of the entity
    gold: Integers  # (mentions,) what it stands for, as the model counts it; -1 for nothing known

    @property
    def tokens(self) -> int:
        return len(self.token_ids)

    @property
    def terms(self) -> int:
        return len(self.first)


def make_example(document: Document, tokens: Tokens, gold: Integers) -> LinkExample:
    pairs = [(n, index) for n, entity in enumerate(document.entities) for index in entity.mentions]
    if pairs and not len(tokens.ids):
        raise ModelError("no-token-at-all", Place(document=document.id))
    mentions = [document.mentions[index] for _, index in pairs]
    spans = np.array([(m.start, m.end) for m in mentions], np.int64).reshape(-1, 2)
    first, last = word_tokens(spans, tokens.offsets)
    first = np.minimum(first, len(tokens.ids) - 1)
    last = np.maximum(first, last)  # a sign that the tokenizer drops has its neighbour's token
    numbers = np.array([number for number, _ in pairs], np.int64)
    return LinkExample(document.id, tokens.ids, first, last, numbers, gold)


@dataclass(frozen=True, slots=True)
class LinkBatch:
    """Mentions of several documents, and where windows hold them."""

    windows: WindowBatch
    spans: TextSpans  # of the windows: the uses
    mention: Tensor  # (uses,) whose use it is
    document: Tensor  # (mentions,)
    gold: Tensor  # (mentions,)
    counts: tuple[int, ...]  # mentions of each document

    @property
    def weight(self) -> int:
        return len(self.gold)

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)

    def of_mentions(self, values: Tensor) -> Tensor:
        """(uses, ...) -> (mentions, ...): the mean over the uses; zero where there is none."""
        return segment_mean(values, self.mention, self.weight)


def make_batch(examples: Sequence[LinkExample], windows: WindowBatch, before: int) -> LinkBatch:
    """The first token of every document is in slot `before`."""
    counts = tuple(example.terms for example in examples)
    document = torch.arange(len(examples)).repeat_interleave(torch.tensor(counts))
    first, last, gold = (
        torch.from_numpy(np.concatenate([getattr(e, part) for e in examples]))
        for part in ("first", "last", "gold")
    )
    spans, mention = spans_in_windows(
        document, first + before, last + before, windows.document, windows.slots
    )
    return LinkBatch(windows, spans, mention, document, gold, counts)


def entity_means(values: Tensor, examples: Sequence[LinkExample]) -> list[Tensor]:
    """(mentions, ...) of a batch -> for each document (entities, ...): the mean over mentions."""
    counts = [example.terms for example in examples]
    ends = list(accumulate(counts))
    return [
        segment_mean(values[end - count : end], numbers, int(numbers.max()) + 1)
        for end, count, numbers in zip(
            ends, counts, (torch.from_numpy(example.entity) for example in examples), strict=True
        )
    ]
