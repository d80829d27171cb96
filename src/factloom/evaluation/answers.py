"""Answers to questions: exact match and F1, for questions with an answer and without.

Rajpurkar, Jia, Liang: Know What You Don't Know, ACL 2018. A question counts with its best gold
answer, and one without counts 1 where nothing is answered, else 0; the measures are means over all
questions. What an answer is compared by: text/answer_words.py. The no-answer score is measured by
the area under its ROC curve: the probability that a question without an answer has a higher one
than a question with an answer (Fawcett 2006, "An introduction to ROC analysis").

Where the gold names sentences that prove an answer, those that are given are compared with them:
F1 of the two sets, the mean over questions, as HotpotQA's script does (Yang et al., EMNLP 2018).
"""

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from factloom.document import Document, Question
from factloom.evaluation.matching import require_same_text
from factloom.evaluation.plots import Scored
from factloom.text.answer_words import best_likeness, same_answer


@dataclass(frozen=True, slots=True)
class Judged:
    """The best answer to one question, compared with the gold."""

    has_answer: bool  # in the gold
    answered: bool
    exact: bool
    f1: float
    score: float | None  # of the answer
    no_answer: float | None  # probability of that
    support: float | None = None  # F1 of the sentences that prove it, where the gold names some
    kind: str = ""  # of the question, where the gold names one: bridge, comparison


@dataclass(slots=True)
class AnswerReport:
    """Every question whose answer the gold knows, by the document that it is asked about."""

    documents: int
    unknown_documents: int = 0
    per_document: dict[str, list[Judged]] = field(default_factory=dict)

    @property
    def judged(self) -> list[Judged]:
        return [one for found in self.per_document.values() for one in found]

    @property
    def scored(self) -> Scored:
        """The scores of the answers, and which of these are right."""
        made = [(one.score, one.exact) for one in self.judged if one.answered]
        known = [(score, exact) for score, exact in made if score is not None]
        return [score for score, _ in known], [exact for _, exact in known]


def evaluate(gold: Sequence[Document], predicted: Sequence[Document]) -> AnswerReport:
    """Compare what was answered with the gold; a question that was not answered has no answer."""
    require_same_text(gold, predicted)
    found = {document.id: document for document in predicted}
    names = {document.id for document in gold}
    report = AnswerReport(len(gold), sum(name not in names for name in found))
    for document in gold:
        answered = found.get(document.id)
        report.per_document[document.id] = list(
            _judged(document.questions, answered.questions if answered else ())
        )
    return report


def _judged(gold: Iterable[Question], predicted: Iterable[Question]) -> Iterable[Judged]:
    """Questions are matched by id, or text where there is none; equal ones by their order."""
    waiting: dict[str, list[Question]] = {}
    for question in predicted:
        waiting.setdefault(question.id or question.text, []).append(question)
    for question in gold:
        answers = waiting.get(question.id or question.text)
        found = answers.pop(0) if answers else question.without_answers()
        if question.answers is not None:
            judged = judge(found, [answer.text for answer in question.answers])
            kind = question.attributes.get("type")
            yield dataclasses.replace(
                judged,
                support=_support(question.evidence, found.evidence),
                kind=kind if isinstance(kind, str) else "",
            )


def _support(gold: Collection[int], found: Collection[int]) -> float | None:
    """F1 of the sentences; `None` where the gold names none."""
    both = len(set(gold) & set(found))
    return 2 * both / (len(gold) + len(found)) if gold else None


def judge(question: Question, golds: Sequence[str]) -> Judged:
    """The question's first answer against all gold answers; none of these: there is no answer."""
    best = question.answers[0] if question.answers else None
    if best is None or not golds:
        right = best is None and not golds
        exact, f1 = right, float(right)
    else:
        exact = any(same_answer(best.text, gold) for gold in golds)
        f1 = best_likeness(best.text, golds)
    return Judged(
        has_answer=bool(golds),
        answered=best is not None,
        exact=exact,
        f1=f1,
        score=None if best is None else best.score,
        no_answer=question.no_answer,
    )


def area_under_curve(judged: Sequence[Judged]) -> float | None:
    """Of the no-answer scores; `None` without scores, or where all questions are of one kind."""
    scores: dict[bool, list[float]] = {True: [], False: []}
    for one in judged:
        if one.no_answer is not None:
            scores[one.has_answer].append(one.no_answer)
    lower, higher = np.array(scores[True]), np.sort(scores[False])
    if not len(lower) or not len(higher):
        return None
    above = len(higher) - np.searchsorted(higher, lower, side="right")  # (with an answer,)
    equal = len(higher) - np.searchsorted(higher, lower, side="left") - above
    return float((above + equal / 2).sum() / (len(lower) * len(higher)))
