"""From questions about texts to answers, by whatever runs the layers of a reader.

The model and its formulas: models/reader.py. Here is what is around its layers, which every runtime
does alike: questions and texts become index arrays, spans are chosen and decided upon. Nothing here
imports torch.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from factloom.document import Document, Question
from factloom.encoders.tokens import QuestionReader
from factloom.layouts.asked_questions import (
    AskedQuestion,
    QuestionBatch,
    make_batch,
    make_questions,
)
from factloom.layouts.batching import batches_by_length
from factloom.models.answer_decisions import FoundSpan, answered
from factloom.modules.best_spans import best_spans
from factloom.modules.calibration import log_odds
from factloom.modules.devices import Numbers

LONGEST = 30  # words of an answer, where no training has said


class ReaderSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    gold: Literal["first", "marginal"] = Field(
        "first",
        description="What is learned where an answer stands at several places: the first, or that "
        "it is any of them.",
    )
    longest_answer: PositiveInt | None = Field(
        None, description="Most words of an answer; as in the training documents if absent."
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of the words' states.")


class Layers(Protocol):
    """What runs the layers of a reader: index arrays in, numbers out."""

    def logits(self, batch: QuestionBatch[Numbers]) -> Numbers:
        """(2, questions, columns) of starts and ends"""


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """The layers of a trained reader, and what was fitted to their scores."""

    layers: Layers
    encoder: QuestionReader
    settings: ReaderSettings
    threshold: float
    temperature: float
    no_answer_temperature: float

    def predict(self, documents: Iterable[Document], batch_tokens: int) -> list[Document]:
        """The documents with the best answer to each of their questions, or none."""
        bare = [document.without_answers() for document in documents]
        best = self.best(bare, batch_tokens)
        return [
            document.replace(
                questions=tuple(
                    answered(self, document, question, best.get((number, index)))
                    for index, question in enumerate(document.questions)
                )
            )
            for number, document in enumerate(bare)
        ]

    def ask(
        self, question: str, documents: Sequence[Document], top: int, batch_tokens: int
    ) -> list[FoundSpan]:
        """The best `top` answers to one question in several documents, read together."""
        asked = [document.replace(questions=(Question(question),)) for document in documents]
        found = sorted(self.spans(asked, top, batch_tokens), key=lambda span: -span.margin)
        return found[:top]

    def best(self, documents: Iterable[Document], tokens: int) -> dict[tuple[int, int], FoundSpan]:
        """By numbers of document and question."""
        best: dict[tuple[int, int], FoundSpan] = {}
        for span in self.spans(documents, 1, tokens):
            key = span.document, span.question
            if key not in best or span.margin > best[key].margin:
                best[key] = span
        return best

    def spans(
        self, documents: Iterable[Document], top: int, batch_tokens: int
    ) -> Iterator[FoundSpan]:
        """The best spans of each question in each section of its document, likely or not."""
        unanswered = (document.without_answers() for document in documents)
        questions = [
            dataclasses.replace(asked, known=True)  # every one is to be answered
            for asked in make_questions(unanswered, self.encoder)
        ]
        for numbers in batches_by_length(questions, batch_tokens):
            yield from self._spans_of([questions[number] for number in numbers], top)

    def _spans_of(self, questions: Sequence[AskedQuestion], top: int) -> Iterator[FoundSpan]:
        """The best spans of questions that are read together."""
        batch = make_batch(questions, self.encoder, first_answer=self.settings.gold == "first")
        logits = self.layers.logits(batch).astype(np.float64)
        starts, ends = np.where(batch.inside[:, 1:], logits[..., 1:], -np.inf)
        none = logits[..., 0].sum(0)  # (questions,)
        total = _logsumexp(logits).sum(0)  # (questions,) what the probability of a span lacks
        longest = self.settings.longest_answer or LONGEST
        for values, first, last in best_spans(starts, ends, longest, top, batch.reach):
            margins, logarithms = values - none, values - total  # (questions,) twice
            found = zip(questions, first.tolist(), last.tolist(), strict=True)
            for row, (asked, begin, end) in enumerate(found):
                if np.isfinite(values[row]):
                    yield FoundSpan(
                        document=asked.document,
                        question=asked.question,
                        start=int(asked.words[begin, 0]),
                        end=int(asked.words[end, 1]),
                        margin=float(margins[row]),
                        logit=log_odds(float(logarithms[row])),
                    )


def _logsumexp(values: Numbers) -> Numbers:
    """Over the last axis, whose largest numbers are finite."""
    largest = values.max(-1, keepdims=True)
    total: Numbers = np.log(np.exp(values - largest).sum(-1)) + largest[..., 0]
    return total
