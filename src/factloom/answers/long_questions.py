"""Questions about long texts as CogLTX learns from them: blocks, answers, which are relevant."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch

from factloom.answers.blocks import Block, blocks_with
from factloom.document import Document, Question, Span
from factloom.encoders.encoder import Encoder
from factloom.encoders.special_tokens import SpecialTokens
from factloom.layouts.asked_questions import answer_spans
from factloom.modules.relevance_levels import HIGHEST, RELEVANT, Levels
from factloom.text.tokens import find_tokens

GUESSED = 2  # blocks that are taken for relevant at first, where nobody has said which are

Cut = Callable[[Sequence[Document], SpecialTokens], list[Block]]


@dataclass(frozen=True, slots=True)
class LongQuestion:
    """A question about a document in blocks. Its levels of relevance change during a training."""

    id: str  # of the document
    key: str  # of the question among all that are trained on
    text: str
    around: SpecialTokens
    source: Document
    blocks: tuple[Block, ...]
    answers: tuple[Span, ...]  # characters of the document
    readable: bool  # the answer stands in the text, or is known to be none
    judged: bool  # something is known of which blocks are relevant
    guessed: bool  # that is a guess, which the reasoner may correct
    levels: Levels  # (blocks,)

    @property
    def tokens(self) -> int:
        return sum(len(block.token_ids) + 1 for block in self.blocks) + self.around.count

    @property
    def terms(self) -> int:
        return int(bool(self.blocks) and (self.readable or self.judged))


@dataclass(frozen=True, slots=True)
class LongBatch:
    """Questions of one step. What is read of them, the judge says: there are no tensors yet."""

    questions: tuple[LongQuestion, ...]

    @property
    def weight(self) -> int:
        return sum(question.terms for question in self.questions)

    def to(self, device: torch.device | str) -> Self:  # noqa: ARG002
        return self


def long_questions(
    number: int, document: Document, encoder: Encoder, cut: Cut
) -> Iterator[LongQuestion]:
    """Every question about a document; `number` is that of the document."""
    blocks: dict[int, list[Block]] = {}  # by the room that a question takes
    for index, question in enumerate(document.questions):
        around = encoder.question(question.text)
        if around.count not in blocks:
            blocks[around.count] = cut([document], around)
        yield _long_question(f"{number} {index}", document, question, around, blocks[around.count])


def _long_question(
    key: str, document: Document, question: Question, around: SpecialTokens, blocks: list[Block]
) -> LongQuestion:
    spans = answer_spans(document, question)
    proof = _proof(document, question)
    none = question.answers == ()
    guessed = bool(question.answers) and not proof
    levels = np.zeros(len(blocks), np.int8)
    if guessed:
        levels[blocks_with(blocks, spans)] = RELEVANT
        levels[likely_blocks(question.text, document, blocks)] = RELEVANT
    else:
        levels[blocks_with(blocks, proof)] = HIGHEST
    return LongQuestion(
        id=document.id,
        key=f"{document.id} {question.id} {key}",
        text=question.text,
        around=around,
        source=document,
        blocks=tuple(blocks),
        answers=tuple(spans),
        readable=bool(spans) or none,
        judged=bool(proof) or none or guessed,
        guessed=guessed,
        levels=levels,
    )


def _proof(document: Document, question: Question) -> list[Span]:
    """The sentences that prove the answer, else where that stands; empty where nobody has said."""
    if question.evidence:
        sentences = [document.sentences[number] for number in question.evidence]
        return [(sentence.start, sentence.end) for sentence in sentences]
    return [
        (answer.start, answer.start + len(answer.text))
        for answer in question.answers or ()
        if answer.start is not None
    ]


def likely_blocks(question: str, document: Document, blocks: Sequence[Block]) -> list[int]:
    """The blocks that share most words with the question, rare ones counting more."""
    held = [_words(document.text[block.start : block.end]) for block in blocks]
    having = Counter(word for words in held for word in words)
    asked = _words(question)
    scores = [
        sum(math.log(1 + len(blocks) / having[word]) for word in sorted(asked & words))
        for words in held
    ]
    order = sorted(range(len(blocks)), key=lambda number: (-scores[number], number))
    return [number for number in order[:GUESSED] if scores[number] > 0]


def _words(text: str) -> set[str]:
    found = (text[start:end].lower() for start, end in find_tokens(text, 0, len(text)))
    return {word for word in found if word[0].isalnum()}
