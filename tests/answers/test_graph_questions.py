"""Answers from the facts of a small store, by words alone."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from company_graph import TYPES, document, fill

from factloom.answers import Ask, load
from factloom.graph.store import Store


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with load(
        fill(tmp_path_factory.mktemp("stores") / "store"), encoder=None, reader="none"
    ) as asked:
        yield asked


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who founded Quillmark?", "Mara Velden"),
        ("Who is the founder of Quillmark?", "Mara Velden"),
        ("who founded quillmark", "Mara Velden"),
        ("Where was Mara Velden born?", "Torvik"),
        ("What is Mara Velden's birthplace?", "Torvik"),
        ("When was Mara Velden born?", "3 May 1931"),
        ("In which year was Quillmark founded?", "1956"),
        ("Where does Quillmark have its headquarters?", "Ashmere"),
        ("Who directed the film Night Post?", "Ada Brook"),
        ('Who directed "Night Post"?', "Ada Brook"),
    ],
)
def test_one_hop(ask: Ask, question: str, answer: str) -> None:
    found = ask(question)
    assert (found.text, found.kind, found.hops) == (answer, "fact", 1)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who was born in Torvik?", "Mara Velden"),
        ("Who studied at Halden College?", "Mara Velden"),
        ("Who was born in 1931?", "Mara Velden"),
    ],
)
def test_a_fact_is_asked_from_its_other_end(ask: Ask, question: str, answer: str) -> None:
    assert ask(question).text == answer


@pytest.mark.parametrize(
    ("question", "answer", "hops"),
    [
        ("Where did the founder of Quillmark study?", "Halden College", 2),
        ("Where was Quillmark's founder born?", "Torvik", 2),
        ("In which country was Mara Velden born?", "Norvania", 2),
        ("In which country was the founder of Quillmark born?", "Norvania", 3),
        ("In which country is the birthplace of the founder of Quillmark?", "Norvania", 3),
        ("Where was the Quillmark founder born?", "Torvik", 2),
        ("Where was the mother of the director of Night Post born?", "", 0),
    ],
)
def test_several_hops(ask: Ask, question: str, answer: str, hops: int) -> None:
    found = ask(question)
    assert (found.text, found.hops) == (answer, hops)
    assert len(found.facts) == hops


def test_the_score_of_a_path_is_less_than_that_of_its_parts(ask: Ask) -> None:
    path, first = ask("Where did the founder of Quillmark study?"), ask("Who founded Quillmark?")
    assert 0 < path.score < first.score <= 0.9


def test_a_list_has_all_items_and_the_facts_of_each(ask: Ask) -> None:
    found = ask("Which companies did Mara Velden found?")
    assert found.kind == "list"
    assert set(found.items) == {"Quillmark", "Halden Glass"}
    assert len(found.facts) == 2
    assert set(ask("Which films did Ada Brook direct?").items) == {"Night Post", "Grey Sea"}


def test_what_is_only_polite_changes_nothing(ask: Ask) -> None:
    found = ask("Can you please name all films that Ada Brook directed?")
    assert (found.question[:3], set(found.items)) == ("Can", {"Night Post", "Grey Sea"})


def test_no_words_are_left_out_of_a_question(tmp_path: Path) -> None:
    facts = [("Night Post", "P57", "Ada Brook", 0.9), ("Night Post", "P577", "1956", 0.9)]
    question = "When did the films directed by the director of Night Post come out?"
    with load(fill(tmp_path / "one", document("a.txt", facts)), encoder=None, reader="none") as ask:
        assert not ask(question)  # the graph knows the director, and no other film
    facts += [("Grey Sea", "P57", "Ada Brook", 0.9), ("Grey Sea", "P577", "2001", 0.9)]
    with load(fill(tmp_path / "two", document("a.txt", facts)), encoder=None, reader="none") as ask:
        found = ask(question)
        assert (found.text, found.hops) == ("2001", 3)


def test_a_city_that_is_asked_for_is_no_country(tmp_path: Path) -> None:
    made = document("a.txt", [("Torvik", "P17", "Norvania", 0.9)])
    with load(fill(tmp_path / "store", made), encoder=None, reader="none") as ask:
        assert ask("In which country is Torvik?").text == "Norvania"
        assert not ask("In which city is Torvik?")


def test_a_count_that_is_too_unsure_is_not_given(tmp_path: Path) -> None:
    made = document("a.txt", [("Mara Velden", "P40", "Jon Velden", 0.45)])
    with load(fill(tmp_path / "store", made), encoder=None, reader="none") as ask:
        found = ask("How many children did Mara Velden have?")
        assert ask("Who is the child of Mara Velden?").text == "Jon Velden"
    assert (found.kind, "Jon Velden" in found.explanation) == ("none", True)


def test_things_are_counted(ask: Ask) -> None:
    found = ask("How many children did Mara Velden have?")
    assert (found.text, found.kind, len(found.items)) == ("2", "count", 2)


def test_a_number_that_a_document_gives_is_not_counted_again(ask: Ask) -> None:
    found = ask("How many people does Quillmark employ?")
    assert (found.text, found.kind) == ("640", "fact")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Was Mara Velden born in Torvik?", "yes"),
        ("Was Mara Velden born in Norvania?", "yes"),  # in which Torvik lies
        ("Was Mara Velden born in Ashmere?", "no"),
        ("Did Mara Velden found Quillmark?", "yes"),
        ("Is Quillmark a member of Halden College?", ""),  # nothing is known of that
        ("Was Quillmark founded before 1960?", "yes"),
        ("Was Quillmark founded after 1960?", "no"),
        ("Was Mara Velden born in 1931?", "yes"),
    ],
)
def test_yes_or_no(ask: Ask, question: str, answer: str) -> None:
    found = ask(question)
    assert (found.text, found.kind) == (answer, "yes/no" if answer else "none")


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("Which companies were founded before 1990?", ["Quillmark"]),
        ("Which companies were founded after 1990?", ["Halden Glass"]),
        ("Which companies did Mara Velden found after 1990?", ["Halden Glass"]),
        ("Which companies were founded since 1956?", ["Quillmark", "Halden Glass"]),
    ],
)
def test_dates_limit_what_is_listed(ask: Ask, question: str, items: list[str]) -> None:
    found = ask(question)
    assert sorted(found.items or [found.text]) == sorted(items)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Who founded Moonforge?", "no name"),
        ("What colour is Quillmark?", "no relation"),
        ("Who is the mother of Mara Velden?", '"mother"'),
        ("Where did Mara Velden die?", '"place of death"'),
        ("When did Mara Velden study?", "no relation"),
        ("Why?", "no name"),
    ],
)
def test_what_no_fact_says_is_not_answered(ask: Ask, question: str, reason: str) -> None:
    found = ask(question)
    assert (found.text, found.kind, bool(found)) == ("", "none", False)
    assert reason in found.explanation
    assert str(found) == "the documents do not say"


def test_every_answer_has_the_sentence_that_proves_it_at_its_place(ask: Ask) -> None:
    (proof,) = ask("Who founded Quillmark?").evidence
    assert proof.document == "company.txt"
    assert proof.sentence == "Quillmark founded by Mara Velden."
    text = ask.store.document("company.txt").text
    assert text[proof.start : proof.end] == proof.sentence


@pytest.mark.parametrize(
    "question",
    [
        "Who founded Quillmark?",
        "Where did the founder of Quillmark study?",
        "In which country was the founder of Quillmark born?",
        "Who studied at Halden College?",
        "Which films did Ada Brook direct?",
    ],
)
def test_the_query_that_is_shown_gives_the_same_answer(ask: Ask, question: str) -> None:
    found = ask(question)
    assert found.sparql is not None
    rows = [row["answer"].value for row in ask.store.query(found.sparql)]
    assert set(rows) == set(found.items or [found.text])


def test_the_query_of_a_count_counts(ask: Ask) -> None:
    found = ask("How many children did Mara Velden have?")
    assert found.sparql is not None
    (row,) = ask.store.query(found.sparql)
    assert row["count"].value == found.text


def test_an_answer_is_json(ask: Ask) -> None:
    found = json.loads(json.dumps(ask("Where did the founder of Quillmark study?").to_json()))
    assert found["kind"] == "path"
    assert [fact["name"] for fact in found["facts"]] == ["founded by", "educated at"]


def test_less_sure_answers_come_behind(tmp_path: Path) -> None:
    facts = [("Quillmark", "P112", "Mara Velden", 0.4), ("Quillmark", "P112", "Ada Brook", 0.8)]
    with load(
        fill(tmp_path / "store", document("a.txt", facts)), encoder=None, reader="none"
    ) as ask:
        answers = ask.answers("Who founded Quillmark?")
    assert [answer.text for answer in answers] == ["Ada Brook", "Mara Velden"]


def test_an_ambiguous_name_is_answered_for_all_that_have_it_and_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = document("a.txt", [("Quillmark", "P112", "Mara Velden", 0.8)])
    monkeypatch.setitem(TYPES, "Quillmark", "MISC")
    other = document("b.txt", [("Quillmark", "P57", "Ada Brook", 0.8)])
    with load(fill(tmp_path / "store", one, other), encoder=None, reader="none") as ask:
        founder, director = ask("Who founded Quillmark?"), ask("Who directed Quillmark?")
    assert (founder.text, director.text) == ("Mara Velden", "Ada Brook")
    assert "may mean" in founder.explanation


def test_documents_that_speak_of_one_thing_are_read_together(tmp_path: Path) -> None:
    first = document("a.txt", [("Quillmark", "P112", "Mara Velden", 0.8)])
    second = document("b.txt", [("Mara Velden", "P69", "Halden College", 0.8)])
    directory = fill(tmp_path / "store", first, second)
    with load(directory, encoder=None, reader="none") as ask:
        found = ask("Where did the founder of Quillmark study?")
        assert found.text == "Halden College"
        assert {proof.document for proof in found.evidence} == {"a.txt", "b.txt"}
    with Store.open(directory) as store:  # taken apart, the two are not one any more
        store.split("Mara Velden", "b.txt")
    with load(directory, encoder=None, reader="none") as ask:
        assert not ask("Where did the founder of Quillmark study?")


def test_relations_of_the_users_own_are_asked_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TYPES, "aspirin", "DRUG")
    monkeypatch.setitem(TYPES, "headache", "DISEASE")
    made = document("a.txt", [("aspirin", "P112", "headache", 0.9)])
    (stated,) = made.relations
    own = made.replace(relations=(dataclasses.replace(stated, type="treats"),))
    directory = tmp_path / "store"
    with Store.open(directory) as store:
        store.ingest([own], relation_names={"treats": "treats"}, model="test 1")
    with load(directory, encoder=None, reader="none") as ask:
        assert ask("What does aspirin treat?").text == "headache"
        assert ask("What treats headache?").text == "aspirin"
