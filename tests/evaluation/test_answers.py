"""Answers measured: means over questions, abstaining, the curve of the no-answer score."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom import formats
from factloom.document import Answer, Document, Question, Sentence
from factloom.evaluation.answers import Judged, area_under_curve
from factloom.evaluation.tasks import TASKS, Answers

TEXT = "Mara founded Quillmark in Torvik in 1956."


def asked(name: str, *answers: str) -> Question:
    return Question(f"{name}?", name, tuple(Answer(a, TEXT.index(a)) for a in answers))


GOLD = [
    Document(
        TEXT,
        "a",
        questions=(
            asked("when", "1956", "in 1956"),
            asked("where", "in Torvik"),
            asked("why"),
            asked("whom"),
            Question("How?", "how"),  # nobody knows
        ),
    ),
    Document(TEXT, "b", questions=(asked("who", "Mara"),)),
]


def found(answer: str | None, score: float = 0.5, no_answer: float | None = None) -> dict[str, Any]:
    answers = () if answer is None else (Answer(answer, score=score),)
    return {"answers": answers, "no_answer": no_answer}


def predicted(**answers: dict[str, Any]) -> list[Document]:
    return [
        document.replace(
            questions=tuple(
                Question(question.text, question.id, **answers[question.id])
                for question in document.questions
                if question.id in answers
            )
        )
        for document in GOLD
    ]


def measured(**answers: dict[str, Any]) -> dict[str, Any]:
    return dict(TASKS["answers"].measure(GOLD, Answers(predicted(**answers)), samples=20).numbers)


def test_measures_are_means_over_questions_with_their_best_gold_answer() -> None:
    numbers = measured(
        when=found("The 1956", 0.9, 0.1),
        where=found("Torvik", 0.8, 0.3),
        why=found(None, no_answer=0.8),
        whom=found("Mara", 0.7, 0.2),
        how=found("so"),
    )  # and nothing at all about who
    assert numbers["exact_match"] == pytest.approx(2 / 5)
    assert numbers["f1"] == pytest.approx((1 + 2 / 3 + 1 + 0 + 0) / 5)
    assert numbers["has_answer_f1"] == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert numbers["has_answer_exact_match"] == pytest.approx(1 / 3)
    assert numbers["no_answer_accuracy"] == 0.5
    # of (0.8, 0.2) against (0.1, 0.3): all but one pair are in order
    assert numbers["no_answer_auc"] == 0.75
    assert (numbers["questions"], numbers["answered_questions"]) == (5, 3)
    low, high = numbers["f1_interval"]
    assert low <= numbers["f1"] <= high


def test_the_gold_itself_is_all_right() -> None:
    numbers = TASKS["answers"].measure(GOLD, Answers(GOLD), samples=0).numbers
    assert (numbers["f1"], numbers["exact_match"], numbers["no_answer_accuracy"]) == (1, 1, 1)
    assert numbers["no_answer_auc"] is None  # nobody said how sure


def test_sentences_are_compared_where_the_gold_names_some_and_kinds_are_told_apart() -> None:
    gold = Document(
        "Mara left. She is in Torvik. Who knows?",
        "p",
        sentences=(Sentence(0, 10), Sentence(11, 28), Sentence(29, 39)),
        questions=(
            Question("Where?", "a", (Answer("Torvik"),), (0, 1), attributes={"type": "bridge"}),
            Question("Who?", "b", (Answer("Mara"),), (0,), attributes={"type": "bridge"}),
            Question("Both?", "c", (Answer("no"),), attributes={"type": "comparison"}),
        ),
    )
    where, who, both = gold.questions
    given = (
        dataclasses.replace(where, evidence=(1, 2)),
        dataclasses.replace(who, answers=(Answer("Torvik"),)),
        dataclasses.replace(both, evidence=(2,)),
    )
    predicted = [gold.replace(questions=given)]
    numbers = TASKS["answers"].measure([gold], Answers(predicted), samples=0).numbers
    assert numbers["support_f1"] == pytest.approx((1 / 2 + 1) / 2)
    assert (numbers["f1_bridge"], numbers["f1_comparison"]) == (0.5, 1.0)
    assert measured()["support_f1"] is None


def test_the_less_confident_answers_are_left_out() -> None:
    (found_, _) = predicted(when=found("1956", 0.9), where=found("Torvik", 0.2), why=found(None))
    when, where, why = TASKS["answers"].confident(found_, 0.5).questions
    assert [len(question.answers or ()) for question in (when, where, why)] == [1, 0, 0]
    assert TASKS["answers"].confident(GOLD[0], 1.0) == GOLD[0]  # people have no score


def test_a_model_sees_questions_without_answers() -> None:
    shown = TASKS["answers"].unlabelled(GOLD[0])
    assert [question.answers for question in shown.questions] == [None] * 5


def test_questions_of_one_name_are_matched_by_their_order() -> None:
    questions = tuple(Question("Who?", answers=(Answer(name),)) for name in ("Mara", "Quillmark"))
    gold = Document(TEXT, "c", questions=questions)
    numbers = TASKS["answers"].measure([gold], Answers([gold]), samples=0).numbers
    assert numbers["exact_match"] == 1.0
    turned = gold.replace(questions=questions[::-1])
    assert TASKS["answers"].measure([gold], Answers([turned]), samples=0).numbers["f1"] == 0.0


def test_a_file_of_predictions_measures_like_its_documents(tmp_path: Path) -> None:
    answers = predicted(when=found("1956", 0.9, 0.1), why=found("so", 0.2, 0.6))
    formats.write(answers, tmp_path / "found.jsonl")
    by_file = TASKS["answers"].measure_file(GOLD, tmp_path / "found.jsonl", samples=5)
    by_documents = TASKS["answers"].measure(GOLD, Answers(answers), samples=5)
    assert by_file.numbers == by_documents.numbers
    assert by_file.picture == by_documents.picture
    assert by_documents.picture is not None
    assert by_documents.picture.confusion[("no answer", "answer")] == 1


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 1.0])), max_size=12))
def test_the_area_is_the_part_of_pairs_in_order(given: list[tuple[bool, float]]) -> None:
    judged = [Judged(has, True, True, 1.0, None, score) for has, score in given]
    pairs = [
        (without, having) for has, without in given if not has for other, having in given if other
    ]
    expected = sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs) if pairs else None
    assert area_under_curve(judged) == (None if expected is None else pytest.approx(expected))


def test_the_keys_of_json_are_all_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "answers.md").read_text(encoding="utf-8")
    section = page.split("## Measuring")[1].split("\n## ")[0]
    assert set(re.findall(r"`(\w+)`", section)) == set(measured())
