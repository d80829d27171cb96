"""Recall of the documents that questions are about."""

import pytest

from factloom.document import Answer, Document, Question
from factloom.evaluation.tasks import TASKS, Answers

GOLD = [
    Document("One.", "a", questions=(Question("Who?", "q1", (Answer("One"),)),)),
    Document(
        "Two.",
        "b",
        questions=(
            Question("What?", "q2", (Answer("Two"),)),
            Question("Why?", "q3", ()),  # nothing answers it: nothing is to be found
            Question("When?", "", (Answer("Two"),)),
        ),
    ),
]


def with_found(*names: tuple[str, ...]) -> list[Document]:
    """The gold's questions, each with passages of these documents."""
    rest = iter(names)

    def told(question: Question) -> Question:
        passages = [{"document": name, "start": 0, "end": 1, "score": 0.1} for name in next(rest)]
        return Question(question.text, question.id, attributes={"passages": passages})

    return [each.replace(questions=tuple(map(told, each.questions))) for each in GOLD]


def numbers(found: list[Document]) -> dict[str, float]:
    return dict(TASKS["retrieval"].measure(GOLD, Answers(found), samples=0).numbers)


def test_several_passages_of_a_document_count_once() -> None:
    others = [f"x{number}" for number in range(4)]
    found = with_found(("a",), ("x", "x", "x", "b"), ("b",), (*others, *others, "b"))
    measured = numbers(found)
    assert measured["questions"] == 3
    assert measured["recall_at_1"] == pytest.approx(1 / 3)
    assert measured["recall_at_5"] == 1.0


def test_what_was_not_found_counts_as_missed() -> None:
    measured = numbers([GOLD[0].without_answers(), GOLD[1].without_answers()])
    assert measured["recall_at_20"] == 0.0
    measured = numbers(with_found(("b",), (), (), tuple("cdefgb")))
    assert (measured["recall_at_5"], measured["recall_at_20"]) == (0.0, pytest.approx(1 / 3))


def test_training_watches_recall() -> None:
    scores = TASKS["retrieval"].scores(GOLD, Answers(with_found(("a",), ("b",), (), ("b",))))
    assert scores == {"recall_at_1": 1.0, "recall_at_5": 1.0, "recall_at_20": 1.0}
