"""SQuAD's form: paragraphs with questions, answers that stand elsewhere, the way back."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from document_strategies import documents, searched
from factloom import formats
from factloom.document import Answer, Document, Question
from factloom.errors import InputError
from format_samples import SQUAD, SQUAD_RECORD


def written(path: Path, *paragraphs: dict[str, Any], **article: Any) -> Path:
    content = {"data": [{"paragraphs": list(paragraphs), **article}], "version": "1.1"}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def paragraph(answer: str, start: int, context: str = "an Ada, an Ada and no Bob") -> Any:
    answers = [{"text": answer, "answer_start": start}]
    return {"context": context, "qas": [{"id": "q", "question": "Who?", "answers": answers}]}


def test_every_paragraph_is_a_document(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(SQUAD, encoding="utf-8")
    first, second, third = formats.read(tmp_path / "a")
    assert [found.id for found in (first, second, third)] == ["Torvik-1", "Torvik-2", "DEV_1_0"]
    assert first.attributes["title"] == "Torvik"
    assert len(first.sentences) == 2
    asked, impossible = first.questions
    assert (asked.text, asked.id) == ("When was Torvik founded?", "q1")
    assert asked.answers == (
        Answer("1956", 44),
        Answer("in 1956", 41, attributes={"id": "2"}),
    )
    assert impossible.answers == ()
    assert second.questions[0].answers is None  # nobody has said
    assert third.questions == ()


def test_writing_gives_back_the_articles(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(SQUAD, encoding="utf-8")
    formats.write(formats.read(tmp_path / "a"), tmp_path / "b", "squad")
    back = json.loads((tmp_path / "b").read_text(encoding="utf-8"))
    expected = json.loads(json.dumps(SQUAD_RECORD["data"]))
    expected[0]["paragraphs"][1]["qas"][0].pop("answers", None)
    assert back["data"] == expected
    assert list(formats.read(tmp_path / "b")) == list(formats.read(tmp_path / "a"))


@searched
@given(found=documents())
def test_questions_and_answers_of_any_document_come_back(
    tmp_path_factory: pytest.TempPathFactory, found: Document
) -> None:
    path = tmp_path_factory.mktemp("squad") / "a"
    formats.write([found.replace(attributes={})], path, "squad")
    (back,) = formats.read(path, "squad")
    assert back.text == found.text
    for asked, again in zip(found.questions, back.questions, strict=True):
        assert (again.text, again.id) == (asked.text, asked.id)
        if asked.answers is None:
            assert again.answers is None
        else:
            places = [(answer.text, answer.start) for answer in asked.answers]
            assert [(answer.text, answer.start) for answer in again.answers or ()] == places


@pytest.mark.parametrize(
    ("answer", "start", "code", "found"),
    [
        ("Ada", 3, None, 3),
        ("Ada", 5, "answer-moved", 3),
        ("Ada", 10, "answer-moved", 11),
        ("Ada", 7, "answer-moved", 3),  # as near before as behind
        ("Ada", -7, "answer-moved", 3),
        ("Ada", 10**9, "answer-moved", 11),
        ("Ada", -1, "answer-not-in-text", None),
        ("Eve", 3, "answer-not-in-text", None),
    ],
)
def test_an_answer_counts_where_it_stands_nearest(
    tmp_path: Path, answer: str, start: int, code: str | None, found: int | None
) -> None:
    path = written(tmp_path / "a", paragraph(answer, start))
    (document,) = formats.read(path)  # a warning does not stop the reading
    assert document.questions[0].answers == (Answer(answer, found),)
    flaws = list(formats.check(path))
    assert [flaw.code for flaw in flaws] == ([code] if code else [])
    if code:
        assert flaws[0].place.part == "record 0, paragraphs[0].qas[0].answers[0]"
        assert flaws[0].place.document == "a-1"


def test_a_flawed_paragraph_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    wrong = [{"context": "a", "qas": [{"question": 3}]}, {"qas": []}, paragraph("", 0)]
    impossible = paragraph("Ada", 3)
    impossible["qas"][0]["is_impossible"] = True
    path = written(tmp_path / "a", *wrong, impossible, paragraph("Ada", 3), title="Names")
    codes = [flaw.code for flaw in formats.check(path)]
    assert codes == ["wrong-type", "missing-key", "blank-answer", "answered-and-impossible"]
    with pytest.raises(InputError, match=r"paragraphs\[0\]\.qas\[0\]\.question"):
        list(formats.read(path))


def test_a_question_without_words_is_left_out_with_a_warning(tmp_path: Path) -> None:
    blank = paragraph("Ada", 3)
    blank["qas"].insert(0, {"id": "p", "question": " ", "answers": []})
    path = written(tmp_path / "a", blank)
    (document,) = formats.read(path)
    assert [question.id for question in document.questions] == ["q"]
    (flaw,) = formats.check(path)
    assert (flaw.code, flaw.place.part) == ("question-left-out", "record 0, paragraphs[0].qas[0]")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("[]", "not-json"),
        ("{", "not-json"),
        ('{"version": 1}', "missing-key"),
        ('{"data": {}}', "not-json"),
        ('{"data": [],}', "not-json"),
        ('{"data": []} x', "not-json"),
        ("{3: []}", "not-json"),
        ('{"data" []}', "not-json"),
        ('{"data": [] "version": 1}', "not-json"),
    ],
)
def test_another_file_is_told(tmp_path: Path, content: str, code: str) -> None:
    (tmp_path / "a").write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(formats.read(tmp_path / "a", "squad"))
    assert caught.value.code == code


def test_articles_of_one_title_have_paragraphs_of_different_names(tmp_path: Path) -> None:
    article = {"title": "T", "paragraphs": [{"context": "a"}]}
    (tmp_path / "a").write_text(json.dumps({"data": [article, article]}), encoding="utf-8")
    assert [found.id for found in formats.read(tmp_path / "a")] == ["T-1", "T-2"]


def test_documents_without_a_title_are_articles_of_their_own(tmp_path: Path) -> None:
    given = [Document("a", "1"), Document("b", "2", questions=(Question("Who?"),))]
    formats.write(given, tmp_path / "a", "squad")
    articles = json.loads((tmp_path / "a").read_text(encoding="utf-8"))["data"]
    assert [len(article["paragraphs"]) for article in articles] == [1, 1]
    assert [found.id for found in formats.read(tmp_path / "a")] == ["1", "2"]
    formats.write([], tmp_path / "b", "squad")
    assert list(formats.read(tmp_path / "b")) == []
