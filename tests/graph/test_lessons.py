"""Corrections become documents that say what is known, and that the rest is not."""

from pathlib import Path

import pytest
from graph_documents import NAMES, ada, engine

from factloom import formats
from factloom.graph.lessons import Lessons, lessons, write_lessons
from factloom.graph.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store.open(tmp_path / "store")
    opened.ingest([ada(), engine()], relation_names=NAMES, model="test")
    return opened


def cells(relations: object) -> set[tuple[int, str, int]]:
    return {(each.head, each.type, each.tail) for each in relations}


def test_rejected_accepted_and_corrected(store: Store) -> None:
    store.edit().reject(store.fact("ada.txt#fact=0"))
    store.edit().accept(store.fact("ada.txt#fact=1"))
    store.edit().correct(store.fact("engine.txt#fact=0"), relation="P737")
    first, second = sorted(lessons(store), key=lambda document: document.id)
    assert cells(first.denied) == {(0, "P19", 1)}
    assert cells(first.relations) == {(0, "P569", 2)}
    assert cells(second.relations) == {(0, "P737", 1)}
    assert cells(second.denied) == {(0, "P108", 1)}
    for document in (first, second):
        assert document.annotated == ()  # the rest is unknown
        assert all(relation.score is None for relation in document.relations)
        assert document.text == store.document(document.id).text


def test_what_nobody_has_decided_teaches_nothing(store: Store) -> None:
    store.edit().skip(store.fact("ada.txt#fact=0"))
    store.edit().rename(store.find("London"), "Londinium")
    assert list(lessons(store)) == []


def test_two_corrections_that_meet_do_not_contradict_each_other(store: Store) -> None:
    entities = store.document("ada.txt")
    both = entities.replace(id="both")
    store.ingest([both], relation_names=NAMES, model="test")
    store.edit().reject(store.fact("both#fact=1"))
    store.edit().correct(
        store.fact("both#fact=0"), relation="date of birth", tail="10 December 1815"
    )
    [lesson] = [document for document in lessons(store) if document.id == "both"]
    assert cells(lesson.relations) == {(0, "P569", 2)}
    assert cells(lesson.denied) == {(0, "P19", 1)}


def test_a_file_of_lessons_is_read_again(store: Store, tmp_path: Path) -> None:
    store.edit().reject(store.fact("ada.txt#fact=0"))
    path = tmp_path / "lessons.jsonl"
    assert write_lessons(store, path) == Lessons(1, 0, 1)
    assert list(formats.read(path)) == list(lessons(store))
