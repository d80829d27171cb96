"""Questions of a Document: what fits its text, and the way to JSON and back."""

import doctest
import json

import pytest

import factloom.questions
from factloom.document import Answer, Document, Question, Sentence, flaws
from factloom.errors import DocumentError
from factloom.files.report import _unchecked_document

TEXT = "Ada was born in London."
ASKED = Question("Where was Ada born?", "q1", (Answer("London", 16),), evidence=(0,))


def document(*questions: Question) -> Document:
    return Document(TEXT, "ada", (Sentence(0, 23),), questions=questions)


def test_doctests_of_the_module_hold() -> None:
    assert doctest.testmod(factloom.questions).failed == 0


def test_questions_survive_json() -> None:
    found = document(
        ASKED,
        Question("Who?", answers=()),
        Question("Why?", no_answer=0.25, attributes={"level": "hard"}),
        Question("Was she?", answers=(Answer("yes", score=0.5, attributes={"by": 2}),)),
    )
    data = json.loads(json.dumps(found.to_json()))
    assert Document.from_json(data) == found
    assert data["questions"][1] == {"text": "Who?", "answers": []}  # none, other than unknown
    assert data["questions"][2]["no_answer"] == 0.25


def test_without_answers_only_what_was_asked_is_left() -> None:
    given = document(Question("Who?", "q", (Answer("Ada", 0),), (0,), 0.1, {"level": 1}))
    assert given.without_answers() == document(Question("Who?", "q", attributes={"level": 1}))


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        (Question(" \n"), ["blank-question"]),
        (Question("Who?", answers=(Answer(" "),)), ["blank-answer"]),
        (Question("Who?", answers=(Answer("Ada", 1),)), ["answer-elsewhere"]),
        (Question("Who?", answers=(Answer(".", -1),)), ["answer-elsewhere"]),
        (Question("Who?", answers=(Answer("Ada", 10**9),)), ["answer-elsewhere"]),
        (Question("Who?", evidence=(0, 1)), ["dangling-sentence"]),
        (Question("Who?", answers=(Answer("Ada", 0, 1.5),)), ["score-out-of-range"]),
        (Question("Who?", no_answer=-0.5), ["score-out-of-range"]),
    ],
)
def test_what_does_not_fit_the_text_is_told(question: Question, codes: list[str]) -> None:
    fields = {"text": TEXT, "sentences": (Sentence(0, 23),), "questions": (ASKED, question)}
    found = list(flaws(_unchecked_document(fields)))
    assert [flaw.code for flaw in found] == codes
    assert found[0].place.part is not None
    assert found[0].place.part.startswith("question 1")
    with pytest.raises(DocumentError, match=codes[0]):
        document(ASKED, question)
