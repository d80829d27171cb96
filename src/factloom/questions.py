"""Questions about the text of a Document, with the answers that people or a model gave.

    >>> asked = Question("Where was Ada born?", answers=(Answer("London", start=25),))
    >>> asked.answers[0].end
    31

What is asked of several paragraphs together is a question of one Document that holds them all
(text/paragraphs.py); what is asked without a text, as in open-domain questions, is a question of a
Document whose text is empty.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from factloom.errors import Flaw, Place, flaw

# The attribute of a question that tells the passages found for it, the best first: "document",
# half-open characters "start" and "end" there, and "score".
FOUND_PASSAGES = "passages"


@dataclass(frozen=True, slots=True)
class Answer:
    """The words of an answer, and where they stand in the document's text.

    `start` is `None` for an answer that is not taken from the text ("yes"), or of which only the
    words are known. `score` is a probability, `None` for gold.
    """

    text: str
    start: int | None = None
    score: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def end(self) -> int | None:
        return None if self.start is None else self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the text of a document.

    `answers` are `None` where nobody has said, and empty where the text holds none; the best one
    comes first. `evidence` are the sentences that prove it, as for relations. `no_answer` is a
    model's probability that the text holds no answer, also where it gives one.
    """

    text: str
    id: str = ""
    answers: tuple[Answer, ...] | None = None
    evidence: tuple[int, ...] = ()
    no_answer: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def without_answers(self) -> Self:
        """The question as it was before anybody answered it."""
        return dataclasses.replace(self, answers=None, evidence=(), no_answer=None)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The reverse of what `Document.to_json` makes of it."""
        answers = data.get("answers")
        found = None if answers is None else tuple(Answer(**answer) for answer in answers)
        return cls(**{**data, "answers": found, "evidence": tuple(data.get("evidence", ()))})


def question_flaws(
    questions: Sequence[Question], text: str, sentences: int, document: str
) -> Iterator[Flaw]:
    """Every way in which questions do not fit the text, of so many sentences, of a document."""
    for index, question in enumerate(questions):
        place = Place(document=document, part=f"question {index}")
        if not question.text.strip():
            yield flaw("blank-question", place)
        for sentence in question.evidence:
            if not 0 <= sentence < sentences:
                yield flaw("dangling-sentence", place, sentence=sentence, count=sentences)
        yield from _score_flaws(question.no_answer, place)
        for number, answer in enumerate(question.answers or ()):
            part = Place(document=document, part=f"question {index}, answer {number}")
            if not answer.text.strip():
                yield flaw("blank-answer", part)
            elif answer.start is not None and not _stands_at(answer.text, answer.start, text):
                yield flaw("answer-elsewhere", part, answer=answer.text, start=answer.start)
            yield from _score_flaws(answer.score, part)


def _stands_at(answer: str, start: int, text: str) -> bool:
    return start >= 0 and text.startswith(answer, start)


def _score_flaws(score: float | None, place: Place) -> Iterator[Flaw]:
    if score is not None and not 0.0 <= score <= 1.0:
        yield flaw("score-out-of-range", place, score=score)
