"""Facts that contradict each other are found, and those that only seem to are not."""

from pathlib import Path

import pytest
from graph_documents import make_document

from factloom.graph.conflicts import LINES, ONE_AT_MOST, conflicts
from factloom.graph.store import Store

ENTITIES = [("PER", "Ada Lovelace"), ("LOC", "London"), ("LOC", "Paris"), ("LOC", "England")]
NAMES = {**ONE_AT_MOST, **{relation: words for relation, (words, _) in LINES.items()}}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store")


def found(store: Store, *documents: object) -> list[tuple[str, list[str]]]:
    store.ingest(documents, relation_names=NAMES, model="test")
    return [
        (conflict.reason, sorted(fact.tail.name for fact in conflict.facts))
        for conflict in conflicts(store.lookup())
    ]


def test_two_places_of_birth_in_two_documents(store: Store) -> None:
    documents = [
        make_document(key, ENTITIES, [(0, "P19", place)])
        for key, place in (("a", 1), ("b", 2), ("c", 2))
    ]
    reason = "Ada Lovelace has one place of birth at most"
    assert found(store, *documents) == [(reason, ["London", "Paris"])]
    store.edit().reject(store.fact("Ada Lovelace", "P19", "Paris"))
    assert found(store) == []


def test_a_place_within_the_other_is_no_contradiction(store: Store) -> None:
    facts = [(0, "P19", 1), (0, "P19", 3), (1, "P131", 3)]
    assert found(store, make_document("a", ENTITIES, facts)) == []


def test_a_year_and_its_day_are_no_contradiction(store: Store) -> None:
    days = [("TIME", "10 December 1815"), ("TIME", "1815"), ("TIME", "1816")]
    entities = [("PER", "Ada Lovelace"), *days]
    two = [(0, "P569", 1), (0, "P569", 2)]
    assert found(store, make_document("a", entities, two)) == []
    [(_, dates)] = found(store, make_document("a", entities, [*two, (0, "P569", 3)]))
    assert dates == ["10 December 1815", "1815", "1816"]


def test_a_child_of_his_child_whatever_the_relation(store: Store) -> None:
    people = [("PER", "Ann Lee"), ("PER", "Bob Lee")]
    facts = [(0, "P40", 1), (0, "P22", 1)]
    [(reason, _)] = found(store, make_document("a", people, facts))
    assert reason == "Ann Lee and Bob Lee cannot each be above the other"
    [(reason, _)] = found(store, make_document("a", people, [(0, "P40", 0)]))
    assert reason == "Ann Lee cannot be above itself"
    assert found(store, make_document("a", people, [(0, "P40", 1), (1, "P22", 0)])) == []


def test_relations_that_have_words_for_ids(store: Store) -> None:
    facts = [(0, "place of birth", 1), (0, "P19", 2)]
    assert len(found(store, make_document("a", ENTITIES, facts))) == 1


def test_what_people_have_decided_on_both_sides_is_theirs(store: Store) -> None:
    facts = [(3, "P17", 1), (3, "P17", 2)]
    assert len(found(store, make_document("a", ENTITIES, facts))) == 1
    for country in ("London", "Paris"):
        store.edit().accept(store.fact("England", "country", country))
    assert found(store) == []
