"""Questions about documents as a reading model sees them: words, tokens, the spans of answers.

An `AskedQuestion` is one question about one document, or about one section of a very long one
(layouts/sections.py), made once. A `QuestionBatch` is several of them as arrays: a row each, whose
columns are the special slot, which stands for "no answer", and the words of the text. No padding
and no token of a question is among the words, so that neither can ever be an answer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, cast

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document, Question, Span
from factloom.encoders.special_tokens import SpecialTokens
from factloom.encoders.tokens import QuestionReader, Tokens
from factloom.encoders.windows import TokenIds
from factloom.layouts.sections import is_cut, sections
from factloom.layouts.words import word_tokens
from factloom.modules.devices import Array, Numbers, moved
from factloom.modules.windows import WindowBatch
from factloom.text.tokens import tokenised_sentences

if TYPE_CHECKING:
    import torch

Integers = NDArray[np.int64]

# The attribute of a document put together from parts: characters at which something was left out,
# in order. No answer reaches over one.
CUTS = "cuts"

_NOT_FROM_THE_TEXT = frozenset({"yes", "no"})  # where these words stand they answer nothing


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question about a text, and the spans of its words that answer it."""

    id: str  # of the document
    document: int  # its number among those prepared together
    question: int  # its number among those of the document
    around: SpecialTokens  # the question is among them
    token_ids: TokenIds  # (tokens of the text,)
    words: Integers  # (words, 2) characters of the document's text
    first: Integers  # (words,) first token of each word
    last: Integers  # (words,) last token of each word
    reach: Integers  # (words,) the word before which an answer that begins here has to end
    answers: Integers  # (answers, 2) first and last word, each once
    known: bool  # what the answer is, or that there is none

    @property
    def tokens(self) -> int:
        return len(self.token_ids) + self.around.count

    @property
    def terms(self) -> int:
        return int(self.known and len(self.words) > 0)


@dataclass(frozen=True, slots=True)
class QuestionBatch(Generic[Array]):
    """Questions as arrays; column 0 of a row is "no answer", column i + 1 the i-th word."""

    windows: WindowBatch[Array]  # a document of its own for each question
    first: Array  # (questions, columns) slot of the first token, counted through all questions
    last: Array  # (questions, columns) slot of the last token
    inside: Array  # bool (questions, columns), false for padding
    reach: Array  # (questions, words) the word before which a span that begins here has to end
    answers: Array  # (answers, 2) first and last column of the gold, (0, 0) for none
    answered: Array  # (answers,) question of each, rising; where nothing is known there is none
    weight: int  # questions of which something is known

    def to(self, device: "torch.device | str") -> "QuestionBatch":
        return moved(cast(QuestionBatch, self), device)


def make_questions(documents: Iterable[Document], encoder: QuestionReader) -> list[AskedQuestion]:
    """Every question of every document, about each of its sections."""
    around: dict[str, SpecialTokens] = {}
    found: list[AskedQuestion] = []
    for number, document in enumerate(documents):
        for asked in document.questions:
            if asked.text not in around:
                around[asked.text] = encoder.question(asked.text)
        if document.questions:
            found.extend(_asked_about(number, document, encoder, around))
    return found


def _asked_about(
    number: int, document: Document, encoder: QuestionReader, around: Mapping[str, SpecialTokens]
) -> Iterator[AskedQuestion]:
    spans = [answer_spans(document, question) for question in document.questions]
    # nothing that is known of names may show in how the text is cut into words
    parts = list(sections(document.without_mentions()))
    starts = [int(part.attributes["section"]) for part in parts] if is_cut(document) else [0]
    tokens = encoder.tokenize([part.text for part in parts])
    for start, part, found in zip(starts, parts, tokens, strict=True):
        words, first, last = _words(part, found)
        for index, question in enumerate(document.questions):
            inside = [(a - start, b - start) for a, b in spans[index]]
            answers = word_spans(words, [span for span in inside if span[0] >= 0])
            yield AskedQuestion(
                id=document.id,
                document=number,
                question=index,
                around=around[question.text],
                token_ids=found.ids,
                words=words + start,
                first=first,
                last=last,
                reach=_reach(words[:, 0] + start, document.attributes.get(CUTS, ())),
                answers=answers,
                known=question.answers == () or bool(spans[index]),
            )


def _words(part: Document, tokens: Tokens) -> tuple[Integers, Integers, Integers]:
    """The characters, the first and the last token of each word that has tokens."""
    spans = [word for sentence in tokenised_sentences(part) for word in sentence.tokens]
    words = np.asarray(spans, dtype=np.int64).reshape(-1, 2)
    first, last = word_tokens(words, tokens.offsets)
    kept = first <= last  # a tokenizer drops control characters and the like
    return words[kept], first[kept], last[kept]


def _reach(begins: Integers, cuts: Sequence[int]) -> Integers:
    """Of words that begin at these characters, the first one behind the next cut: (words,)"""
    edges = np.searchsorted(begins, [*cuts, np.iinfo(np.int64).max])  # (cuts + 1,) words
    return edges[np.searchsorted(edges, np.arange(len(begins)), side="right")]


def answer_spans(document: Document, question: Question) -> list[Span]:
    """Where the gold answers stand: at their places, else wherever their words stand.

    An answer without a place is looked for in the sentences that prove it, where these are known.
    """
    found: list[Span] = []
    for answer in question.answers or ():
        if answer.start is not None:
            found.append((answer.start, answer.start + len(answer.text)))
        elif answer.text.lower() not in _NOT_FROM_THE_TEXT:
            found.extend(_occurrences(document, answer.text, question.evidence))
    return list(dict.fromkeys(found))


def _occurrences(document: Document, words: str, evidence: Sequence[int]) -> Iterator[Span]:
    """Every place of the words, as whole words."""
    stretches = [(document.sentences[n].start, document.sentences[n].end) for n in evidence]
    for begin, end in stretches or [(0, len(document.text))]:
        start = document.text.find(words, begin, end)
        while start >= 0:
            behind = start + len(words)
            if not _within_word(document.text, start) and not _within_word(document.text, behind):
                yield start, behind
            start = document.text.find(words, start + 1, end)


def _within_word(text: str, offset: int) -> bool:
    """Whether letters or digits stand on both sides, unless one is of a script without spaces."""
    beside = text[max(offset - 1, 0) : offset + 1]
    return len(beside) == 2 and offset > 0 and beside.isalnum() and max(beside) < "\u2e80"


def word_spans(words: Integers, spans: Sequence[Span]) -> Integers:
    """First and last word that the spans of characters hold a part of: (spans, 2), each once."""
    characters = np.asarray(spans, dtype=np.int64).reshape(-1, 2)
    first = np.searchsorted(words[:, 1], characters[:, 0], side="right")
    last = np.searchsorted(words[:, 0], characters[:, 1], side="left") - 1
    pairs = dict.fromkeys(zip(first.tolist(), last.tolist(), strict=True))
    held = [(a, b) for a, b in pairs if a <= b]
    return np.asarray(held, dtype=np.int64).reshape(-1, 2)


def make_batch(
    questions: Sequence[AskedQuestion], encoder: QuestionReader, *, first_answer: bool
) -> QuestionBatch[Numbers]:
    """Questions as arrays, with all of their gold answers or the first alone."""
    special = [asked.around for asked in questions]
    windows = encoder.lay_out([asked.token_ids for asked in questions], special=special)
    shape = (len(questions), 1 + max(len(asked.words) for asked in questions))
    first, last = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    inside = np.zeros(shape, dtype=bool)
    reach = np.zeros((shape[0], shape[1] - 1), dtype=np.int64)
    answers: list[tuple[int, int, int]] = []
    for row, asked in enumerate(questions):
        slot, end = row * windows.length, len(asked.words) + 1
        first[row, 0] = last[row, 0] = slot + _special_slot(asked, encoder.class_token)
        first[row, 1:end] = slot + len(asked.around.before) + asked.first
        last[row, 1:end] = slot + len(asked.around.before) + asked.last
        inside[row, :end] = True
        reach[row, : end - 1] = asked.reach
        if asked.terms:
            spans = (asked.answers + 1).tolist() or [[0, 0]]
            answers.extend((row, a, b) for a, b in (spans[:1] if first_answer else spans))
    gold = np.asarray(answers, dtype=np.int64).reshape(-1, 3)
    return QuestionBatch(
        windows=windows,
        first=first,
        last=last,
        inside=inside,
        reach=reach,
        answers=gold[:, 1:],
        answered=gold[:, 0],
        weight=sum(asked.terms for asked in questions),
    )


def _special_slot(asked: AskedQuestion, mark: int | None) -> int:
    """That of [CLS], which is in front in BERT's family, behind in XLNet's; else the first one."""
    around = asked.around
    if mark in around.after:
        return len(around.before) + len(asked.token_ids) + around.after.index(mark)
    return around.before.index(mark) if mark in around.before else 0
