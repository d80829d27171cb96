"""Passages of documents as a reading model sees them: words, their tokens, questions, answers.

A `Passage` is a sentence of a document, or several in a row, made once. An `AskedBatch` is several
passages as tensors, each with the questions that are asked of it. The *words* of a batch are the
words of all its passages, once a question, in one row: no padding and no token of a question is
among them, so that neither can ever be an answer.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from factloom.document import Document, Sentence
from factloom.encoders.encoder import Encoder
from factloom.encoders.special_tokens import SpecialTokens
from factloom.encoders.tokens import Tokens
from factloom.encoders.windows import TokenIds
from factloom.layouts.word_documents import token_shapes, window_shapes
from factloom.layouts.words import word_tokens
from factloom.modules.devices import moved
from factloom.modules.windows import WindowBatch
from factloom.text.cutting import runs
from factloom.text.tokens import mention_tokens, tokenised_sentences

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Passage:
    """One or several sentences of a document, and the answers that they hold."""

    id: str  # of the document
    document: int  # its number among those prepared together
    token_ids: TokenIds  # (tokens of the passage,)
    shapes: Integers  # (tokens of the passage, features); see layouts/word_documents.py
    words: Integers  # (words, 2) characters of the document's text
    first: Integers  # (words,) first token of each word
    last: Integers  # (words,) last token of each word
    sentence: Integers  # (words,) number of its sentence, rising
    answers: Integers  # (answers, 3) first word, last word, question
    around: tuple[int, ...]  # (questions,) tokens that stand around the passage with each

    @property
    def tokens(self) -> int:
        """That go through the encoder when all questions are asked."""
        return len(self.token_ids) * len(self.around) + sum(self.around)

    @property
    def terms(self) -> int:
        return len(self.words)

    def answers_to(self, question: int, longest: int | None) -> Integers:
        """First and last word of the answers of at most `longest` words: (answers, 2)."""
        first, last, asked = self.answers.T
        meant = asked == question
        if longest is not None:
            meant &= last - first < longest
        return self.answers[meant, :2]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a batch."""

    passage: int
    question: int
    importance: float = 1.0  # how many questions it stands for in the loss


@dataclass(frozen=True, slots=True)
class AskedBatch:
    """Passages with their questions as tensors; word numbers count through the whole batch."""

    windows: WindowBatch  # a document of its own for each question asked
    shapes: Tensor  # bool (windows, window length, SHAPES) what each token has
    asked: tuple[Asked, ...]
    word_counts: tuple[int, ...]  # words of each question asked
    first: Tensor  # (words,) slot of the first token, counted through all questions asked
    last: Tensor  # (words,) slot of the last token
    floor: Tensor  # (words,) the lowest word at which a span may begin that ends here
    limit: Tensor  # (words,) the word before which a span has to end that begins here
    importance: Tensor  # (words,) of the question
    answers: Tensor  # (answers, 2) first and last word
    others: Tensor  # (spans, 2) first and last word of spans to learn from, mostly no answers
    weight: int  # words times questions, asked or not

    def with_others(self, count: int) -> Self:
        """Beside each answer `count` random spans that begin or end where it does."""
        first, last = self.answers.repeat(count, 1).unbind(1)  # (spans,) twice
        chance = torch.rand(2, len(first))
        beyond = self.limit[first] - first  # (spans,) ends to choose from
        within = last - self.floor[last] + 1  # (spans,) starts to choose from
        same_start = torch.stack([first, first + (chance[0] * beyond).long()], 1)
        same_end = torch.stack([last - (chance[0] * within).long(), last], 1)
        others = torch.where(chance[1, :, None] < 0.5, same_start, same_end)
        return dataclasses.replace(self, others=others)

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


def make_passages(
    documents: Iterable[Document],
    encoder: Encoder,
    types: Sequence[str],
    questions: Sequence[SpecialTokens],
    passage_tokens: int,
) -> list[Passage]:
    """Cut and tokenise documents; a mention of a type that is not in `types` answers nothing.

    A sentence is a passage; where several in a row have at most `passage_tokens` tokens, they
    are one together.
    """
    kept = list(documents)
    question_of = {name: index for index, name in enumerate(types)}
    around = tuple(found.count for found in questions)
    tokenised = encoder.tokenize([document.text for document in kept])
    found: list[Passage] = []
    for number, (document, tokens) in enumerate(zip(kept, tokenised, strict=True)):
        whole = _whole(number, document, tokens, question_of, around)
        found.extend(_part(whole, *words) for words in _stretches(whole, passage_tokens))
    return found


def make_batch(
    passages: Sequence[Passage],
    asked: Sequence[Asked],
    encoder: Encoder,
    questions: Sequence[SpecialTokens],
    longest: int | None,
) -> AskedBatch:
    """The questions `asked` of passages; spans have at most `longest` words."""
    special = [questions[row.question] for row in asked]
    windows = encoder.lay_out([passages[row.passage].token_ids for row in asked], special=special)
    counts = [passages[row.passage].terms for row in asked]
    before = np.cumsum([0, *counts])  # words of the questions in front
    first, last, floor, limit, answers = [], [], [], [], []
    for index, row in enumerate(asked):
        passage = passages[row.passage]
        slot = index * windows.length + len(special[index].before)
        first.append(passage.first + slot)
        last.append(passage.last + slot)
        lowest, beyond = _reach(passage.sentence, longest)
        floor.append(lowest + before[index])
        limit.append(beyond + before[index])
        answers.append(passage.answers_to(row.question, longest) + before[index])
    importance = np.repeat([row.importance for row in asked], counts)
    shapes = window_shapes(
        [passages[row.passage].shapes for row in asked],
        [len(around.before) for around in special],
        windows,
    )
    return AskedBatch(
        windows=windows.to("cpu"),
        shapes=torch.from_numpy(shapes),
        asked=tuple(asked),
        word_counts=tuple(counts),
        first=_tensor(first),
        last=_tensor(last),
        floor=_tensor(floor),
        limit=_tensor(limit),
        importance=torch.from_numpy(importance).float(),
        answers=_tensor(answers),
        others=torch.zeros(0, 2, dtype=torch.long),
        weight=sum(passage.terms for passage in passages) * len(questions),
    )


def _whole(
    number: int,
    document: Document,
    tokens: Tokens,
    question_of: Mapping[str, int],
    around: tuple[int, ...],
) -> Passage:
    """The document as one passage."""
    sentences = tokenised_sentences(document)
    spans = [word for sentence in sentences for word in sentence.tokens]
    words = np.asarray(spans, dtype=np.int64).reshape(-1, 2)
    sentence = np.repeat(np.arange(len(sentences)), [len(found.tokens) for found in sentences])
    first, last = word_tokens(words, tokens.offsets)
    kept = first <= last  # a tokenizer drops control characters and the like
    return Passage(
        id=document.id,
        document=number,
        token_ids=tokens.ids,
        shapes=token_shapes(document.text, sentences, words, tokens),
        words=words[kept],
        first=first[kept],
        last=last[kept],
        sentence=sentence[kept],
        answers=_answers(document, sentences, kept, question_of),
        around=around,
    )


def _part(whole: Passage, start: int, end: int) -> Passage:
    """The words from `start` to `end`, and the answers among them."""
    token, beyond = whole.first[start], whole.last[end - 1] + 1
    inside = (whole.answers[:, 0] >= start) & (whole.answers[:, 1] < end)
    return dataclasses.replace(
        whole,
        token_ids=whole.token_ids[token:beyond],
        shapes=whole.shapes[token:beyond],
        words=whole.words[start:end],
        first=whole.first[start:end] - token,
        last=whole.last[start:end] - token,
        sentence=whole.sentence[start:end],
        answers=whole.answers[inside] - np.asarray([start, start, 0]),
    )


def _answers(
    document: Document,
    sentences: Sequence[Sentence],
    kept: NDArray[np.bool_],
    question_of: Mapping[str, int],
) -> Integers:
    """(answers, 3) first and last of the kept words, and question; each once."""
    before = np.cumsum([0, *(len(sentence.tokens) for sentence in sentences)])
    kept_before = np.cumsum([0, *kept])
    found = set()
    for index, mention in enumerate(document.mentions):
        if mention.type in question_of:
            sentence, start, end = mention_tokens(document, index, sentences)
            first, beyond = (
                kept_before[before[sentence] + start],
                kept_before[before[sentence] + end],
            )
            if first < beyond:
                found.add((first, beyond - 1, question_of[mention.type]))
    return np.asarray(sorted(found), dtype=np.int64).reshape(-1, 3)


def _stretches(whole: Passage, passage_tokens: int) -> Iterator[tuple[int, int]]:
    """Half-open word ranges: whole sentences, joined while they have few tokens together."""
    begins = np.flatnonzero(np.diff(whole.sentence, prepend=-1))  # (sentences,)
    edges = [*begins.tolist(), len(whole.sentence)]
    ends = (whole.last[np.asarray(edges[1:], np.int64) - 1] + 1).tolist()
    for first, behind in runs(whole.first[begins].tolist(), ends, passage_tokens):
        yield edges[first], edges[behind]


def _reach(sentence: Integers, longest: int | None) -> tuple[Integers, Integers]:
    """The lowest word that a span ending here may begin with, and that behind the highest one."""
    lowest = np.searchsorted(sentence, sentence, side="left")
    beyond = np.searchsorted(sentence, sentence, side="right")
    if longest is None:
        return lowest, beyond
    word = np.arange(len(sentence))
    return np.maximum(lowest, word - longest + 1), np.minimum(beyond, word + longest)


def _tensor(parts: Sequence[Integers]) -> Tensor:
    return torch.from_numpy(np.concatenate(parts).astype(np.int64))
