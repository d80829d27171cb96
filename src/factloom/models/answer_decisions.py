"""From stretches of texts, with their margins, to answers: what all models of answers do alike.

    answered    the best stretch, if its margin over "no answer" is greater than the threshold
    score       of the answer: its probability; of no answer: sigmoid(-(margin - threshold) / T')

A temperature on its logit makes each score honest; temperatures and threshold are fitted on
documents that were not trained on. Nothing here imports torch.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, SupportsFloat

import numpy as np

from factloom.document import Answer, Document, Question
from factloom.modules.calibration import calibrate_decisions, fit_temperature, scores_from_margins
from factloom.text.answer_words import best_likeness, same_answer

if TYPE_CHECKING:
    from torch import Tensor


class Deciding(Protocol):
    """What decisions need of a model; each is one number, or a tensor of one."""

    @property
    def threshold(self) -> SupportsFloat:
        """The least margin of an answer over none."""

    @property
    def temperature(self) -> SupportsFloat:
        """Of the answers' scores."""

    @property
    def no_answer_temperature(self) -> SupportsFloat: ...


class Fitting(Protocol):
    """A model whose decisions are fitted."""

    threshold: "Tensor"
    temperature: "Tensor"
    no_answer_temperature: "Tensor"


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """A stretch of a text that may answer a question."""

    document: int  # its number among those read
    question: int  # its number among those of the document
    start: int  # characters of the document
    end: int
    margin: float  # over "no answer"
    logit: float  # of its probability
    # further sentences that prove it: the number of their document, and characters of it
    support: tuple[tuple[int, int, int], ...] = ()
    path: str = ""  # how it was come to, where that took several steps
    word: str = ""  # "yes" or "no", which stand nowhere: the span is what they rest on

    def words(self, text: str) -> str:
        """The answer in words, of the text that it was read in."""
        return self.word or text[self.start : self.end]


def answered(
    model: Deciding, document: Document, question: Question, span: FoundSpan | None
) -> Question:
    """The question with this answer, if it is better than none.

    Its evidence are the sentences that hold it and that support it, where the document has any.
    """
    if span is None:  # a text without words
        return dataclasses.replace(question, answers=(), no_answer=1.0)
    over = span.margin - float(model.threshold)
    no_answer = float(scores_from_margins(-over, float(model.no_answer_temperature)))
    if over <= 0:
        return dataclasses.replace(question, answers=(), no_answer=no_answer)
    score = float(scores_from_margins(span.logit, float(model.temperature)))
    answer = Answer(span.words(document.text), None if span.word else span.start, score)
    places = [start for _, start, _ in span.support] + ([] if span.word else [span.start])
    sentences = {document.sentence_at(start) for start in places} - {None}
    return dataclasses.replace(
        question,
        answers=(answer,),
        evidence=tuple(sorted(sentence for sentence in sentences if sentence is not None)),
        no_answer=no_answer,
    )


@dataclass(frozen=True, slots=True)
class TriedAnswer:
    """The best answer to a question whose gold is known, sure or not."""

    margin: float
    logit: float
    likeness: float  # to the gold
    right: bool
    answerable: bool

    @classmethod
    def of(cls, span: FoundSpan, text: str, gold: Sequence[Answer]) -> Self:
        words, golds = span.words(text), [answer.text for answer in gold]
        right = any(same_answer(words, one) for one in golds)
        return cls(span.margin, span.logit, best_likeness(words, golds), right, bool(golds))


def fit_decisions(model: Fitting, tried: Sequence[TriedAnswer]) -> dict[str, float]:
    """Set threshold and temperatures of a model by what it would have answered."""
    margins = [one.margin for one in tried]
    answerable = [one.answerable for one in tried]
    threshold = best_threshold(margins, [one.likeness for one in tried], answerable)
    over = np.array(margins) - threshold
    made = over > 0
    right = np.array([one.right for one in tried], dtype=bool)
    fitted = calibrate_decisions(np.array([one.logit for one in tried])[made], right[made])
    sharpness = fit_temperature(over, np.array(answerable, dtype=bool))
    model.threshold.fill_(threshold)
    model.temperature.fill_(fitted["temperature"])
    model.no_answer_temperature.fill_(sharpness)
    return {**fitted, "threshold": threshold, "no_answer_temperature": sharpness}


def best_threshold(
    margins: Sequence[float], likeness: Sequence[float], answerable: Sequence[bool]
) -> float:
    """The margin above which answering gives the greatest F1; 0 where all questions are alike.

    A question that is answered counts its likeness to the gold, one that is not counts 1 if it has
    no answer. The threshold is half-way between two margins.
    """
    if all(answerable) or not any(answerable):
        return 0.0
    order = np.argsort(margins, kind="stable")[::-1]
    ordered = np.asarray(margins, dtype=np.float64)[order]
    gains = np.where(answerable, likeness, -1.0)[order]  # of answering, the surest first
    totals = np.concatenate([[0.0], np.cumsum(gains)])  # (answered,) 0 to all
    padded = np.pad(ordered, 1, constant_values=(ordered[0] + 2, ordered[-1] - 2))
    between = (padded[1:] + padded[:-1]) / 2  # (answered,) above which so many are answered
    possible = padded[1:] < padded[:-1]  # equal margins are answered alike
    return float(between[np.argmax(np.where(possible, totals, -np.inf))])
