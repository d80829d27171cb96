"""What may be asked, of what, and how answers of graph and text are joined."""

import time
from pathlib import Path

import pytest
from company_graph import document, fill

from factloom import answers
from factloom.answers.abstaining import Decision, write_decision
from factloom.answers.answer import Answer, Proof
from factloom.answers.asking import LONGEST, joined
from factloom.answers.passages import Passage
from factloom.answers.retrieval import Found
from factloom.encoders.encoder import Encoder
from factloom.errors import FactloomError
from factloom.graph.store import Store
from factloom.models.coreference import Coreference
from factloom.models.reader import Reader

TEXT = "Old Torvik. Mara Velden was born in Torvik. She founded Quillmark in 1956."


class OnePassage:
    """A retriever that has one passage, which begins behind the first sentence of a document."""

    asked: str = ""

    def search(self, question: str, top: int = 20) -> list[Found]:
        self.asked = question
        return [Found(Passage("a.txt", 12, len(TEXT), TEXT[12:]), 1.0)][:top]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return fill(tmp_path / "store")


@pytest.fixture
def reader_path(tmp_path: Path, tiny_encoder_path: Path) -> Path:
    model = Reader(Encoder.load(str(tiny_encoder_path)))
    model.threshold.fill_(-100.0)  # it is not trained, and has to answer
    model.save_pretrained(tmp_path / "reader")
    return tmp_path / "reader"


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("", "blank-question"),
        (" ?! ", "blank-question"),
        ("who " * LONGEST, "question-long"),
        ("word " * 10_000, "question-long"),
        ("Wo wurde Mara Velden geboren?", "question-language"),
        ("Où est née Mara Velden ?", "question-language"),
        ("谁创立了公司？", "question-language"),
        ("Кто основал Quillmark?", "question-language"),
    ],
)
def test_what_cannot_be_understood_is_refused(store: Path, question: str, code: str) -> None:
    with (
        answers.load(store, encoder=None, reader="none") as ask,
        pytest.raises(FactloomError) as found,
    ):
        ask(question)
    assert found.value.code == code


def test_the_longest_question_is_answered_in_time(store: Path) -> None:
    started = time.perf_counter()
    with answers.load(store, encoder=None, reader="none") as ask:
        assert not ask(("the Founder of the Wife of " * 100)[: LONGEST - 12] + " Quillmark?")
    assert time.perf_counter() - started < 20


def test_a_store_without_documents_is_refused(tmp_path: Path) -> None:
    Store.open(tmp_path / "empty").close()
    with pytest.raises(FactloomError) as found:
        answers.load(tmp_path / "empty")
    assert found.value.code == "store-without-documents"


def test_a_folder_that_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FactloomError) as found:
        answers.load(tmp_path)
    assert found.value.code == "no-store"


def test_a_document_without_facts_answers_nothing(tmp_path: Path) -> None:
    bare = document("a.txt", [("Quillmark", "P112", "Mara Velden", 0.8)]).replace(relations=())
    with answers.load(fill(tmp_path / "store", bare), encoder=None, reader="none") as ask:
        assert not ask("Who founded Quillmark?")


def test_another_model_is_no_reader(store: Path, tmp_path: Path, tiny_encoder_path: Path) -> None:
    model = Coreference(Encoder.load(str(tiny_encoder_path)), ["LOC"])
    model.save_pretrained(tmp_path / "other")
    with pytest.raises(FactloomError) as found:
        answers.load(store, reader=tmp_path / "other")
    assert found.value.code == "not-a-reader"


def test_a_reader_answers_with_a_span_of_a_passage_and_its_sentence(
    store: Path, reader_path: Path
) -> None:
    retriever = OnePassage()
    with answers.load(store, encoder=None, reader=reader_path, retriever=retriever) as ask:
        found = ask.answers("Which colour has the sea?", top=5)
    assert retriever.asked == "Which colour has the sea?"
    assert found
    for answer in found:
        (proof,) = answer.evidence
        assert answer.kind == "span"
        assert 0 <= answer.score <= 1
        assert TEXT[proof.start : proof.end] == proof.sentence
        assert answer.text in proof.sentence


def test_what_the_reader_doubts_is_not_answered(store: Path, reader_path: Path) -> None:
    retriever = OnePassage()
    with answers.load(store, encoder=None, reader=reader_path, retriever=retriever) as ask:
        assert ask.reader is not None
        ask.reader.threshold.fill_(100.0)
        assert ask("Which colour has the sea?").kind == "none"
        assert ask("Who founded Quillmark?").text == "Mara Velden"


def test_doubt_tells_the_best_guess_and_what_the_graph_lacks(
    store: Path, reader_path: Path
) -> None:
    with answers.load(store, encoder=None, reader=reader_path, retriever=OnePassage()) as ask:
        assert ask.reader is not None
        ask.reader.threshold.fill_(100.0)
        answer = ask("Which colour has the sea?")
    assert str(answer) == "the documents do not say"
    assert "the likeliest of 1 passages read" in answer.explanation
    assert 0 <= answer.score <= 1


def test_what_the_graph_is_sure_of_is_not_read(store: Path, reader_path: Path) -> None:
    retriever = OnePassage()
    with answers.load(store, encoder=None, reader=reader_path, retriever=retriever) as ask:
        assert ask("Who founded Quillmark?").kind == "fact"
    assert not retriever.asked


def test_a_decision_beside_the_reader_is_the_one_that_counts(
    store: Path, reader_path: Path
) -> None:
    write_decision(reader_path, Decision(1e9, 0.1, -1.0, 100))
    with answers.load(store, encoder=None, reader=reader_path, retriever=OnePassage()) as ask:
        assert ask("Which colour has the sea?").kind == "none"
    write_decision(reader_path, Decision(-1e9, 0.0, 0.0, 100))
    with answers.load(store, encoder=None, reader=reader_path, retriever=OnePassage()) as ask:
        assert ask("Which colour has the sea?").score == 0.5


def test_without_a_reader_the_passages_are_given(store: Path) -> None:
    with answers.load(store, encoder=None, reader="none", retriever=OnePassage()) as ask:
        assert ask("Which colour has the sea?").kind == "none"
        (found,) = ask.passages("Which colour has the sea?")
    assert found.passage.text == TEXT[12:]


def test_what_graph_and_text_both_say_is_surer() -> None:
    fact = Answer("?", "Torvik", "fact", 0.5, (Proof("a", "s"),))
    other, same = Answer("?", "Ashmere", "span", 0.6), Answer("?", "the Torvik", "span", 0.4)
    found = joined([fact], [other, same])
    assert [(answer.text, answer.score) for answer in found] == [("Torvik", 0.7), ("Ashmere", 0.6)]


def test_the_surer_of_graph_and_text_comes_first() -> None:
    found = joined([Answer("?", "Torvik", "fact", 0.3)], [Answer("?", "Ashmere", "span", 0.6)])
    assert [answer.kind for answer in found] == ["span", "fact"]
