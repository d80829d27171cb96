"""HotpotQA, MuSiQue, NQ-open: questions about several paragraphs, or about no text at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from factloom import formats
from factloom.document import Answer, Document
from factloom.errors import InputError
from factloom.text.paragraphs import paragraphs_of
from format_samples import HOTPOTQA_RECORDS, SAMPLES


def sample(tmp_path: Path, format: str) -> list[Document]:
    (tmp_path / "file").write_text(SAMPLES[format], encoding="utf-8")
    return list(formats.read(tmp_path / "file"))


def test_hotpotqa_is_one_text_with_the_sentences_that_prove_the_answer(tmp_path: Path) -> None:
    first, second = sample(tmp_path, "hotpotqa")
    assert first.text == (
        "Torvik\nTorvik lies on the Ouse. It is old.\n\n"
        "Ouse\nThe Ouse is in Norvania.\n\nOuse\nA song. By Mara."
    )
    (asked,) = first.questions
    assert (first.id, asked.id, asked.answers) == ("q1", "q1", (Answer("Norvania"),))
    proof = [first.sentence_text(sentence) for sentence in asked.evidence]
    assert proof == ["Torvik lies on the Ouse.", "The Ouse is in Norvania.", "By Mara."]
    assert asked.attributes == {"type": "bridge"}
    assert [paragraph.title for paragraph in paragraphs_of(first)] == ["Torvik", "Ouse", "Ouse"]
    assert (second.text, second.questions[0].answers) == ("", None)


def test_hotpotqa_may_have_an_object_a_line(tmp_path: Path) -> None:
    lines = "".join(json.dumps(record) + "\n" for record in HOTPOTQA_RECORDS)
    (tmp_path / "lines").write_text(lines, encoding="utf-8")
    assert list(formats.read(tmp_path / "lines")) == sample(tmp_path, "hotpotqa")


@pytest.mark.parametrize("fact", [["Torvik", 9], ["Torvik", -1], ["Nowhere", 0]])
def test_a_fact_that_is_no_sentence_is_left_out_with_a_warning(
    tmp_path: Path, fact: list[Any]
) -> None:
    record = HOTPOTQA_RECORDS[0] | {"supporting_facts": [["Ouse", 0], fact]}
    (tmp_path / "a").write_text(json.dumps([record]), encoding="utf-8")
    (document,) = formats.read(tmp_path / "a")
    assert len(document.questions[0].evidence) == 1
    (flaw,) = formats.check(tmp_path / "a")
    assert (flaw.code, flaw.place.part) == ("fact-left-out", "record 0, supporting_facts[1]")


def test_musique_is_one_text_with_the_paragraphs_that_support_the_answer(tmp_path: Path) -> None:
    first, second = sample(tmp_path, "musique")
    (asked,) = first.questions
    assert asked.answers == (Answer("old"), Answer("very old"))
    proof = [first.sentence_text(sentence) for sentence in asked.evidence]
    assert proof == ["Mara was born in Torvik.", "She left.", "It is old."]
    assert asked.attributes["question_decomposition"][0]["answer"] == "Torvik"
    assert second.questions[0].answers == ()  # what it says is not in the paragraphs


def test_open_questions_are_asked_of_no_text(tmp_path: Path) -> None:
    first, second = sample(tmp_path, "nq-open")
    assert (first.text, first.id) == ("", "file-1")
    assert first.questions[0].answers == (Answer("1956"), Answer("in 1956"))
    assert second.questions[0].attributes == {"source": "nq"}


@pytest.mark.parametrize(
    ("format", "record", "part"),
    [
        ("hotpotqa", {"_id": "a", "question": "b", "context": [["t", "s"]]}, "context[0][1]"),
        ("hotpotqa", {"_id": "a", "question": "b", "context": [["t"]]}, "context[0]"),
        ("musique", {"id": "a", "question": "b", "paragraphs": [{"title": 3}]}, "paragraphs[0]"),
        ("nq-open", {"question": "a", "answer": "b"}, "answer"),
        ("nq-open", {"question": " ", "answer": []}, "question 0"),
        ("nq-open", {"question": "a", "answer": [""]}, "question 0, answer 0"),
    ],
)
def test_flaws_are_told_with_their_place(
    tmp_path: Path, format: str, record: dict[str, Any], part: str
) -> None:
    (tmp_path / "a").write_text("\n" + json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(formats.read(tmp_path / "a", format))
    assert caught.value.flaw.place.line == 2
    assert (caught.value.flaw.place.part or "").startswith(part)
