"""What to look at first."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from graph_documents import NAMES, make_document

from factloom.graph.reviewing import doubtful_facts
from factloom.graph.store import Store

ENTITIES = [("PER", "Ada Lovelace"), ("LOC", "London"), ("LOC", "Paris"), ("MISC", "Islam")]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store.open(tmp_path / "store")
    facts = [(0, "P108", 1), (0, "P140", 3), (1, "P47", 2), (0, "P27", 1)]
    document = make_document("a", ENTITIES, facts)
    scores = (0.5, 0.9, 0.99, None)
    found = [
        replace(relation, score=score)
        for relation, score in zip(document.relations, scores, strict=True)
    ]
    names = {**NAMES, "P140": "religion"}
    opened.ingest([document.replace(relations=tuple(found))], relation_names=names, model="test")
    return opened


def order(store: Store) -> list[str]:
    return [doubtful.fact.relation for doubtful in doubtful_facts(store.lookup())]


def test_what_is_sensitive_and_unsure_comes_first(store: Store) -> None:
    assert order(store) == ["P140", "P108", "P47", "P27"]
    first, second, *_ = doubtful_facts(store.lookup())
    entropy = -(0.9 * math.log2(0.9) + 0.1 * math.log2(0.1))
    assert first.weight == pytest.approx(1 + entropy)
    assert first.reasons == ("sensitive",)
    assert (second.weight, second.reasons) == (1.0, ("unsure",))


def test_contradictions_come_before_what_is_unsure(store: Store) -> None:
    facts = [(0, "P19", 1), (0, "P19", 2)]
    document = make_document("b", ENTITIES, facts, score=0.5)
    store.ingest([document], relation_names=NAMES, model="test")
    assert order(store)[:2] == ["P19", "P19"]
    first, *_ = doubtful_facts(store.lookup())
    assert "Ada Lovelace has one place of birth at most" in first.reasons


@pytest.mark.parametrize("documents", [2, 5])
def test_a_fact_weighs_more_the_more_documents_hang_on_an_unsure_merge(
    store: Store, documents: int
) -> None:
    people = [("PER", "Bo Lind"), ("LOC", "Torvik")]
    for number in range(documents):
        facts = [(0, "P27", 1)] if number == 0 else []
        document = make_document(f"bo-{number}", people, facts)
        sure = [replace(relation, score=None) for relation in document.relations]
        store.ingest([document.replace(relations=tuple(sure))], relation_names=NAMES, model="test")
    lookup = store.lookup()
    [fact] = [each for each in doubtful_facts(lookup) if each.fact.head.name == "Bo Lind"]
    members = lookup.things.members(fact.fact.head.iri)
    least = min(merge.score for merge in map(lookup.things.merge_of, members) if merge)
    entropy = -(least * math.log2(least) + (1 - least) * math.log2(1 - least))
    assert fact.weight == pytest.approx(entropy * math.log2(documents))
    assert fact.reasons == ("an unsure merge",)


def test_decided_facts_are_not_asked_again_and_skipped_ones_last(store: Store) -> None:
    store.edit().accept(store.fact("a#fact=0"))
    store.edit().skip(store.fact("a#fact=1"))
    assert order(store) == ["P47", "P27", "P140"]
    store.edit().undo()
    assert order(store)[0] == "P140"
