"""Answers to the questions of documents."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from factloom.evaluation import answers
from factloom.evaluation.answers import AnswerReport, Judged
from factloom.evaluation.bootstrap import mean_interval
from factloom.evaluation.plots import Picture
from factloom.evaluation.relations import Counts
from factloom.evaluation.report import Report, Row, calibration_error, percent
from factloom.evaluation.task import Task


def _report(found: AnswerReport, samples: int) -> Report:
    judged = found.judged
    answerable = [one for one in judged if one.has_answer]
    others = [one for one in judged if not one.has_answer]
    proved = [one for one in judged if one.support is not None]
    counts = Counts(
        gold=len(judged),
        predicted=sum(one.answered for one in judged),
        correct=sum(one.exact for one in judged),
    )
    exact = {
        "exact_match": _mean(judged, _exact),
        "has_answer_exact_match": _mean(answerable, _exact),
        "no_answer_auc": answers.area_under_curve(judged),
    }
    error = calibration_error(found.scored, counts.gold)
    sums = ((sum(one.f1 for one in part), len(part)) for part in found.per_document.values())
    shown = {
        "exact match": exact["exact_match"],
        "exact match, questions with an answer": exact["has_answer_exact_match"],
        "area under the curve of the no-answer score": exact["no_answer_auc"],
    }
    return Report(
        documents=found.documents,
        unknown_documents=found.unknown_documents,
        found={"questions": counts},
        rows=[
            Row(
                "all questions",
                _mean(judged, _f1),
                mean_interval(sums, samples),
                keys={"f1": "f1", "f1_interval": "interval"},
            ),
            Row(
                f"  with an answer: {len(answerable):,}",
                _mean(answerable, _f1),
                keys={"has_answer_f1": "f1"},
            ),
            *_rows_by_kind(judged),
            Row(
                f"  without an answer: {len(others):,}",
                _mean(others, _f1),
                keys={"no_answer_accuracy": "f1"},
            ),
            Row(
                f"sentences that prove it: {len(proved):,}",
                _mean(proved, _support),
                keys={"support_f1": "f1"},
            ),
        ],
        others={
            **exact,
            "expected_calibration_error": error,
            "questions": counts.gold,
            "answered_questions": counts.predicted,
            "questions_without_answer": len(others),
        },
        caption=None if error is None else f"expected calibration error {percent(error)}",
        tallies={
            "measure": {name: percent(value) for name, value in shown.items() if value is not None}
        },
    )


def _rows_by_kind(judged: Sequence[Judged]) -> Iterator[Row]:
    """A row for each kind of question that the gold tells apart."""
    for kind in sorted({one.kind for one in judged} - {""}):
        part = [one for one in judged if one.kind == kind]
        yield Row(f"  {kind}: {len(part):,}", _mean(part, _f1), keys={f"f1_{kind}": "f1"})


def _mean(judged: Sequence[Judged], measure: Callable[[Judged], float]) -> float | None:
    return sum(map(measure, judged)) / len(judged) if judged else None


def _exact(one: Judged) -> float:
    return float(one.exact)


def _f1(one: Judged) -> float:
    return one.f1


def _support(one: Judged) -> float:
    return one.support or 0.0


def _picture(_: object, __: object, found: AnswerReport) -> Picture:
    """What was answered that has an answer; scores of the answers."""
    names = {True: "answer", False: "no answer"}
    judged = found.judged
    confusion = Counter((names[one.has_answer], names[one.answered]) for one in judged)
    return Picture(confusion, found.scored, sum(one.has_answer for one in judged))


_WATCHED = ("f1", "exact_match", "has_answer_f1", "has_answer_exact_match", "no_answer_auc")

TASK = Task(
    name="answers",
    finds="questions with known answers",
    unlabelled=lambda document: document.without_answers(),
    asked={"answers": lambda model, documents: model.predict(documents)},
    compare=lambda gold, found, _: answers.evaluate(gold, found.documents),
    report=_report,
    watched={name: name for name in _WATCHED},
    picture=_picture,
    optional="answers",
)
