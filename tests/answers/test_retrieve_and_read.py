"""Questions to a corpus: passages that are found, and the best span of all of them."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from factloom import formats
from factloom.answers.abstaining import read_decision
from factloom.answers.passages import Passage
from factloom.answers.retrieval import Found
from factloom.answers.retrieve_and_read import RetrieveAndRead
from factloom.cli import app
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.models.answer_decisions import FoundSpan
from factloom.models.reader import Reader
from factloom.questions import Answer, Question

TEXTS = {
    "a": "Mara Velden was born in Torvik.",
    "b": "Quillmark was founded in 1956.",
    "c": "Nobody knows.",
}


class Everything:
    """A retriever that finds all texts, in their order."""

    def search(self, question: str, top: int = 20) -> list[Found]:  # noqa: ARG002
        found = [Passage(id, 0, len(text), text) for id, text in TEXTS.items()]
        return [Found(passage, 1.0) for passage in found][:top]


class LastWords:
    """Reads the last word of each text; the margin is how long it is."""

    threshold, temperature = 4.5, 1.0

    def ask(self, question: str, documents: Sequence[Document], *, top: int = 5) -> list[Any]:  # noqa: ARG002
        spans = []
        for number, document in enumerate(documents):
            end = len(document.text) - 1
            start = document.text.rindex(" ", 0, end) + 1
            spans.append(FoundSpan(number, 0, start, end, float(end - start), 0.0))
        return sorted(spans, key=lambda span: -span.margin)[:top]


def asked(**golds: str) -> list[Document]:
    return [
        Document("", id=id, questions=(Question(f"{id}?", answers=(Answer(gold),)),))
        for id, gold in golds.items()
    ]


def open_reader() -> RetrieveAndRead:
    return RetrieveAndRead(LastWords(), Everything())  # type: ignore[arg-type]


def test_the_best_span_of_all_passages_answers_with_its_place() -> None:
    [document] = open_reader().predict(asked(q="Torvik"))
    [question] = document.questions
    [answer] = question.answers or ()
    assert (answer.text, answer.start) == ("Torvik", None)
    assert answer.attributes == {"document": "a", "start": 0, "end": len(TEXTS["a"])}
    assert [found["document"] for found in question.attributes["passages"]] == ["a", "b", "c"]


def test_what_is_below_the_threshold_is_not_answered() -> None:
    reader = open_reader()
    reader.decision = dataclasses.replace(reader.fit(asked(q="Torvik", r="Torvik")), threshold=7.0)
    [document] = reader.predict(asked(q="Torvik"))
    assert document.questions[0].answers == ()
    assert 0 < (document.questions[0].no_answer or 0) < 1


def test_questions_are_asked_again_of_what_does_not_hold_their_answer() -> None:
    decision = open_reader().fit(asked(q="Torvik", r="torvik", s="Torvik"))
    # with its answer the best margin is 6 ("Torvik"), without it 5 ("knows")
    assert decision.questions == 6
    assert 5 < decision.threshold < 6
    [own] = open_reader().predict(asked(q="Torvik"))
    assert own.questions[0].answers


def test_a_reader_is_fitted_and_measured_on_a_corpus_by_command(
    tmp_path: Path, tiny_encoder_path: Path
) -> None:
    Reader(Encoder.load(str(tiny_encoder_path))).save_pretrained(tmp_path / "reader")
    text = TEXTS["a"] + " " + TEXTS["b"]
    gold = Answer("Torvik", start=text.index("Torvik"))
    questions = (Question("Where was Mara born?", answers=(gold,)),)
    formats.write([Document(text, "a", questions=questions)], tmp_path / "gold.jsonl")
    formats.write([Document(TEXTS["c"], "c")], tmp_path / "more.jsonl")
    files = str(tmp_path / "gold.jsonl"), str(tmp_path / "more.jsonl")

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output + str(result.exception)
        return result.output

    output = str(tmp_path / "fitted")
    said = run(
        "calibrate", str(tmp_path / "reader"), files[0], "--corpus", files[0],
        "--corpus", files[1], "--output", output,
    )  # fmt: skip
    assert "questions 2" in said
    assert read_decision(tmp_path / "fitted") is not None
    measured = run(
        "evaluate", output, files[0], "--corpus", files[0], "--corpus", files[1], "--json"
    )
    assert '"questions": 1' in measured
    run("compress", output, "--whole", "--output", str(tmp_path / "small"))
    assert read_decision(tmp_path / "small") == read_decision(tmp_path / "fitted")


def test_a_model_of_something_else_has_no_corpus(tmp_path: Path) -> None:
    formats.write(asked(q="Torvik"), tmp_path / "gold.jsonl")
    file = str(tmp_path / "gold.jsonl")
    result = CliRunner().invoke(app, ["evaluate", "factloom-en-small", file, "--corpus", file])
    assert getattr(result.exception, "code", None) == "model-without-corpus"


@pytest.mark.parametrize("documents", [[], [Document("Nobody knows.", "c")]])
def test_without_questions_nothing_is_fitted(documents: list[Document]) -> None:
    with pytest.raises(Exception, match="no-held-out-questions"):
        open_reader().fit(documents)
