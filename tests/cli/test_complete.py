"""`factloom complete`: likely facts with their reasons."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from factloom.cli import app
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import FactloomError, InputError
from factloom.graph.store import Store

NAMES = {"P551": "residence", "P17": "country", "P27": "citizenship"}


def document(id: str, *facts: tuple[str, str, str]) -> Document:
    """A list of names, and facts between them."""
    names = list(dict.fromkeys(end for s, _, o in facts for end in (s, o)))
    text, mentions = "", []
    for name in names:
        mentions.append(Mention(len(text), len(text) + len(name), "THING"))
        text += f"{name}, "
    relations = tuple(Relation(names.index(s), names.index(o), r) for s, r, o in facts)
    entities = tuple(Entity((n,), "THING") for n in range(len(names)))
    sentences = (Sentence(0, len(text)),)
    return Document(text, id, sentences, tuple(mentions), entities, relations)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Who lives in a town is a citizen of its country; of Person11 that is not known."""
    documents = []
    for n in range(12):
        person, town, country = f"Person{n}", f"Town{n % 4}", f"Country{n % 2}"
        facts = [(person, "P551", town), (town, "P17", country)]
        documents.append(document(str(n), *facts, *[(person, "P27", country)] * (n != 11)))
    with Store.open(tmp_path / "graph") as graph:
        graph.ingest(documents, relation_names=NAMES, model="m")
    return tmp_path / "graph"


def run(store: Path, *options: str) -> Result:
    arguments = ["complete", "--store", str(store), *options]
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_what_is_missing_is_told_with_the_facts_behind_it(store: Path) -> None:
    said = run(store, "--relation", "citizenship", "--no-vectors", "--minimum-score", "0.5").output
    assert "0.65  Person11 | citizenship | Country1\n" in said
    assert "because Person11 | residence | Town3; Town3 | country | Country1 (by a rule" in said
    assert "1 likely facts; 27 facts are known" in said


def test_vectors_join_the_rules_and_json_tells_all(store: Path) -> None:
    said = run(store, "--entity", "Person11", "--epochs", "5", "--json", "--limit", "1")
    (line,) = (line for line in said.output.splitlines() if line.startswith("{"))
    told = json.loads(line)
    assert told["fact"] == ["Person11", "citizenship", "Country1"]
    assert told["score"] >= told["confidence"]
    assert len(told["why"]) == 2


def test_nothing_is_added_to_the_store(store: Path) -> None:
    run(store, "--no-vectors")
    with Store.read(store) as graph:
        assert all(c.relation != "P27" for c in graph.neighbours("Person11"))


def test_what_people_have_rejected_is_not_listed(store: Path) -> None:
    with Store.open(store) as graph:
        wrong = document("wrong", ("Person11", "P27", "Country1"))
        graph.ingest([wrong], relation_names=NAMES, model="m")
        graph.edit().reject(graph.fact("Person11", "P27", "Country1"))
    said = run(store, "--no-vectors", "--minimum-score", "0.5").output
    assert "Person11 | citizenship" not in said


def test_an_adjective_of_a_country_is_asked_about_as_the_country(store: Path) -> None:
    with Store.open(store) as graph:
        town = ("Uppsala", "P17", "Swedish"), ("Uppsala", "P17", "Sweden")
        people = [(f"Citizen{n}", "P551", "Uppsala") for n in range(2)]
        graph.ingest([document("se", *town, *people)], relation_names=NAMES, model="m")
    told = run(store, "--entity", "Swedish", "--no-vectors").output
    assert "Citizen0 | citizenship | Sweden" not in told  # of which nobody is known to be one
    said = run(store, "--entity", "Citizen0", "--no-vectors", "--minimum-score", "0.01").output
    assert "Citizen0 | citizenship | Sweden" in said
    assert "Swedish" not in told + said


def test_unknown_relations_and_things_are_errors(store: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no-relation-to-complete"):
        run(store, "--relation", "mother")
    with pytest.raises(FactloomError):
        run(store, "--entity", "Nobody")
    with Store.open(store) as graph:
        alone = Document("Mara.", "x", (Sentence(0, 5),), (Mention(0, 4, "THING"),))
        lonely = alone.replace(entities=(Entity((0,), "THING"),))
        graph.ingest([lonely], relation_names={}, model="m")
    with pytest.raises(InputError, match="no-facts-to-complete"):
        run(store, "--entity", "Mara")
    with Store.open(tmp_path / "empty") as graph:
        graph.ingest([lonely], relation_names={}, model="m")
    assert "0 likely facts; 0 facts are known" in run(tmp_path / "empty").output
