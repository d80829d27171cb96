"""Questions as CogQA learns from them: what is read, where it leads, and the gold cognitive graph.

The gold graph of a question are the paragraphs of its evidence, an edge from each to those whose
title it says, and the answer; beside them stand paragraphs without evidence that are like the
question, and other names, for System 2 to learn what is no answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from factloom.answers.titled_texts import (
    Library,
    TitledText,
    name_words,
    places_of,
    titled_texts,
)
from factloom.document import Document, Question, Span
from factloom.encoders.encoder import Encoder
from factloom.layouts.asked_questions import CUTS, AskedQuestion, make_questions, word_spans
from factloom.text.question_words import form_of

Kind = Literal["special", "either", "yes/no"]
Integers = NDArray[np.int64]

OTHERS = 2  # paragraphs, and names, that are no answer
CLUE_WORDS = 64  # so that they leave room for the text
START = 2  # texts to begin with where the question names none
_NAME = re.compile(r"[A-Z]\w+(?: [A-Z]\w+)*|\d{4}")


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, or the sentence of a leaf, read with the question; gold spans are words."""

    asked: AskedQuestion
    hops: Integers  # (spans, 2) first and last word, each once
    answers: Integers  # (spans, 2)


@dataclass(slots=True)
class CogQuestion:
    """A question, its readings (a node each), and what is to be learned of the nodes."""

    id: str  # of the document
    kind: Kind
    readings: list[Reading] = field(default_factory=list)
    texts: int = 0  # readings of texts, which come first; the others are leaves
    edges: list[tuple[int, int]] = field(default_factory=list)
    target: int | None = None  # the node that answers; -1: none does; None: nobody knows
    pair: tuple[int, int] | None = None  # the nodes that are compared
    first: bool | None = None  # whether the first of them is the answer, or it is yes

    @property
    def tokens(self) -> int:
        return sum(reading.asked.tokens for reading in self.readings)

    @property
    def terms(self) -> int:
        known = self.target is not None or self.first is not None
        return int(self.texts > 0 and known)


def question_kind(question: str, named: Sequence[int]) -> Kind:
    """What is asked: yes or no, which of two texts that the question names, or anything else."""
    if len(named) < 2:
        return "special"
    if " or " in question.lower():
        return "either"
    return "yes/no" if form_of(question).asks == "yes/no" else "special"


def starting_texts(question: str, library: Library) -> list[int]:
    """The texts that a question names, else those that are most like it."""
    return library.named_in(question) or library.likest(question, START)


def make_reading(
    question: str, clues: str, text: str, sentences: Sequence[Span], encoder: Encoder
) -> AskedQuestion:
    """Question and clues in front of a text; nothing that is pointed to leaves its sentence.

    Of clues that are long together, the first CLUE_WORDS words are read.
    """
    asked = Question(" ".join([question, *clues.split()[:CLUE_WORDS]]))
    cuts = [start for start, _ in sentences[1:]]
    document = Document(text, questions=(asked,), attributes={CUTS: cuts})
    return next(iter(make_questions([document], encoder)))


def cog_questions(document: Document, encoder: Encoder) -> Iterator[CogQuestion]:
    """Every question about a document."""
    library = Library(titled_texts([document]))
    for question in document.questions:
        if library.texts:
            yield _Gold(document, question, library, encoder).made()
        else:  # a text without words
            yield CogQuestion(document.id, "special")


class _Gold:
    """The making of one question."""

    def __init__(
        self, document: Document, question: Question, library: Library, encoder: Encoder
    ) -> None:
        self.question, self.library, self.encoder = question, library, encoder
        named = library.named_in(question.text)
        self.made_of = CogQuestion(document.id, question_kind(question.text, named))
        self.golds = [] if question.answers is None else [one.text for one in question.answers]
        self.proofs = [
            (document.sentences[number].start, document.sentences[number].end)
            for number in question.evidence
        ] or [(one.start, one.end or 0) for one in question.answers or () if one.start is not None]
        proving = [
            number
            for number, text in enumerate(library.texts)
            if any(_overlap(text, proof) for proof in self.proofs)
        ]
        # what the question names comes first, as at the start
        self.proving = [n for n in named if n in proving] + [n for n in proving if n not in named]
        likest = library.likest(question.text, len(library.texts))
        others = [number for number in likest if number not in proving][:OTHERS]
        self.texts = [*self.proving, *others]

    def made(self) -> CogQuestion:
        made, texts = self.made_of, self.library.texts
        hops = {number: list(self._hops(number)) for number in self.texts}
        clues = {number: " ".join(self._clues(number, hops)) for number in self.texts}
        for number in self.texts:
            answers = self._answers(number)
            made.readings.append(self._reading(number, clues[number], hops[number], answers))
        made.texts = len(made.readings)
        node = {number: place for place, number in enumerate(self.texts)}
        made.edges = list(
            dict.fromkeys(
                (node[number], node[other]) for number in self.texts for other, _ in hops[number]
            )
        )
        if made.kind == "special":
            self._add_answer(node)
        elif len(self.proving) >= 2:
            made.pair = (0, 1)
            titles = [name_words(texts[number].title) for number in self.proving[:2]]
            golds = [name_words(gold) for gold in self.golds]
            said = ["yes", "no"] if made.kind == "yes/no" else titles
            made.first = next((said.index(gold) == 0 for gold in golds if gold in said), None)
        return made

    def _hops(self, number: int) -> Iterator[tuple[int, Span]]:
        """Other texts of the proof whose titles a text of the proof says, and where."""
        text = self.library.texts[number]
        for other in self.proving if number in self.proving else ():
            if other != number:
                for place in places_of(self.library.texts[other].title, text.text):
                    if not text.title or place[0] >= text.sentences[0][1]:
                        yield other, place

    def _clues(self, number: int, hops: dict[int, list[tuple[int, Span]]]) -> list[str]:
        found = [
            self.library.texts[origin].text[slice(*self.library.texts[origin].sentence_at(start))]
            for origin, led in hops.items()
            for other, (start, _) in led
            if other == number
        ]
        return list(dict.fromkeys(found))

    def _answers(self, number: int) -> list[Span]:
        """Where the answer stands in sentences of the proof."""
        text = self.library.texts[number]
        if self.made_of.kind != "special" or number not in self.proving:
            return []
        return [
            place
            for gold in self.golds
            for place in places_of(gold, text.text)
            if any(
                text.start + place[0] < end and text.start + place[1] > start
                for start, end in self.proofs
            )
        ]

    def _reading(
        self, number: int, clues: str, hops: Sequence[tuple[int, Span]], answers: Sequence[Span]
    ) -> Reading:
        text = self.library.texts[number]
        asked = text_reading(self.question.text, clues, text, self.encoder)
        led = [place for _, place in hops]
        return Reading(asked, word_spans(asked.words, led), word_spans(asked.words, answers))

    def _add_answer(self, node: dict[int, int]) -> None:
        """The node of the answer, and leaves that are none; -1 where nothing is the answer."""
        made = self.made_of
        if self.question.answers == ():
            made.target = -1
        golds = {name_words(gold) for gold in self.golds}
        titled = [n for n in self.proving if name_words(self.library.texts[n].title) in golds]
        if titled:
            made.target = node[titled[0]]
        for number in self.proving or self.texts[:1]:
            answers = self._answers(number)
            if answers and made.target is None:
                made.target = self._leaf(node[number], number, answers[0])
            for place in self._other_names(number, golds):
                self._leaf(node[number], number, place)

    def _other_names(self, number: int, golds: set[str]) -> list[Span]:
        """Names and years of a text that are neither an answer nor in the question."""
        asked = name_words(self.question.text)
        text = self.library.texts[number]
        spans = (found.span() for found in _NAME.finditer(text.text))
        kept = [
            (start, end)
            for start, end in spans
            for name in (name_words(text.text[start:end]),)
            if name and name not in golds and name not in asked and start >= text.sentences[0][1]
        ]
        return kept[:: max(1, len(kept) // OTHERS)][:OTHERS]

    def _leaf(self, source: int, number: int, place: Span) -> int:
        """A new leaf, with an edge from its text."""
        asked = leaf_reading(self.question.text, self.library.texts[number], place, self.encoder)
        none = np.zeros((0, 2), np.int64)
        self.made_of.readings.append(Reading(asked, none, none))
        self.made_of.edges.append((source, len(self.made_of.readings) - 1))
        return len(self.made_of.readings) - 1


def text_reading(question: str, clues: str, text: TitledText, encoder: Encoder) -> AskedQuestion:
    """A text, read with the clues behind the question."""
    return make_reading(question, clues, text.text, text.sentences, encoder)


def leaf_reading(question: str, text: TitledText, place: Span, encoder: Encoder) -> AskedQuestion:
    """The sentence that says a name, read with the name behind the question."""
    start, end = text.sentence_at(place[0])
    name = text.text[place[0] : place[1]]
    return make_reading(question, name, text.text[start : max(end, place[1])], [], encoder)


def _overlap(text: TitledText, span: Span) -> bool:
    return text.start < span[1] and text.start + len(text.text) > span[0]
