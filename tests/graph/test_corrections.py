"""What people say about facts and things stands above what models find, until it is undone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graph_documents import NAMES, ada, engine, make_document
from pyoxigraph import NamedNode, Quad

from factloom.document import Document
from factloom.errors import InputError
from factloom.graph.changes import Changes
from factloom.graph.corrections import ABOUT, ACTION, Correction, Journal
from factloom.graph.facts import Connection
from factloom.graph.repair import check, rebuild
from factloom.graph.store import Store
from factloom.graph.vocabulary import NUMBER

BIRTH = ("Ada Lovelace", "place of birth", "London")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store.open(tmp_path / "store")
    take_in(opened, ada(), ada("again.txt"), engine())
    return opened


def take_in(store: Store, *documents: Document, model: str = "test 1") -> None:
    store.ingest(documents, relation_names=NAMES, model=model)


def facts(store: Store, name: str, *, rejected: bool = False) -> dict[tuple[str, str, str], object]:
    found = store.neighbours(name, rejected=rejected)
    return {(each.head.name, each.relation, each.tail.name): each.decision for each in found}


def test_a_rejected_fact_is_hidden_and_comes_not_back(store: Store) -> None:
    said = store.edit("Eve", "a slip").reject(store.fact(*BIRTH))
    assert (said.number, said.who, said.why) == (1, "Eve", "a slip")
    assert said.words == "Ada Lovelace, place of birth, London"
    take_in(store, ada("new.txt"))
    take_in(store, ada(), model="test 2")
    store.delete("again.txt")
    take_in(store, ada("again.txt"))
    triple = ("Ada Lovelace", "P19", "London")
    assert triple not in facts(store, "Ada Lovelace")
    assert facts(store, "Ada Lovelace", rejected=True)[triple] == "rejected"
    assert ("Charles Babbage", "P19", "London") in facts(store, "London")
    found = store.fact(*BIRTH)
    assert {each.document for each in found.evidence} == {"ada.txt", "again.txt", "new.txt"}
    store.edit("Eve").undo()
    assert facts(store, "Ada Lovelace")[triple] is None


def test_an_accepted_fact_is_sure(store: Store) -> None:
    store.edit().accept(store.fact("ada.txt#fact=0"))
    first, *_ = store.neighbours("Ada Lovelace", minimum_score=0.9)
    assert (first.decision, first.score, first.certainty) == ("accepted", 0.75, 1.0)


def test_the_last_word_counts(store: Store) -> None:
    store.edit().reject(store.fact(*BIRTH))
    store.edit().accept(store.fact(*BIRTH))
    assert facts(store, "Ada Lovelace")["Ada Lovelace", "P19", "London"] == "accepted"
    store.edit().undo()
    assert ("Ada Lovelace", "P19", "London") not in facts(store, "Ada Lovelace")


def test_a_relation_is_corrected(store: Store) -> None:
    store.edit().correct(store.fact(*BIRTH), relation="P20")
    found = facts(store, "Ada Lovelace")
    assert found["Ada Lovelace", "P20", "London"] == "corrected"
    assert ("Ada Lovelace", "P19", "London") not in found
    store.edit().correct(store.fact("Ada Lovelace", "P20", "London"), relation="employer")
    assert facts(store, "Ada Lovelace")["Ada Lovelace", "P108", "London"] == "corrected"
    store.edit().undo(1)  # the second one speaks of a fact that nobody states any more
    assert facts(store, "Ada Lovelace")["Ada Lovelace", "P19", "London"] is None


def test_a_relation_that_is_new_in_the_store_may_be_named_in_words(store: Store) -> None:
    said = store.edit().correct(store.fact(*BIRTH), relation="Place of Death")
    assert said.words.endswith("→ Ada Lovelace, place of death, London")
    [found] = store.neighbours("Ada Lovelace", relation="place of death")
    assert (found.relation, found.decision) == ("P20", "corrected")
    assert store.relation_names()["P20"] == "place of death"
    again = ada().replace(attributes={"version": 2})
    store.ingest([again], relation_names=NAMES, model="other")
    assert store.relation_names()["P20"] == "place of death"
    with pytest.raises(InputError, match="place of dearth"):
        store.edit().correct(found, relation="place of dearth")


def test_an_end_is_corrected_where_the_document_speaks_of_the_other(store: Store) -> None:
    entities = [("PER", "Ada Lovelace"), ("LOC", "London"), ("LOC", "Marylebone")]
    take_in(store, make_document("town.txt", entities, [(0, "P19", 1)]))
    store.edit().correct(store.fact(*BIRTH), tail="Marylebone")
    found = facts(store, "Ada Lovelace", rejected=True)
    assert found["Ada Lovelace", "P19", "Marylebone"] == "corrected"
    assert found["Ada Lovelace", "P19", "London"] == "rejected"
    head = store.fact("Ada Lovelace", "employer", "Charles Babbage")
    store.edit().correct(head, head="Charles Babbage", tail="Ada Lovelace")
    assert ("Charles Babbage", "P108", "Ada Lovelace") in facts(store, "Ada Lovelace")
    with pytest.raises(InputError, match="speaks of 'Marylebone'"):
        store.edit().correct(head, tail="Marylebone")


def test_what_another_of_the_same_name_did_is_left_alone(store: Store) -> None:
    store.split("Ada Lovelace", "again.txt")
    [first, second] = [store.fact(f"{document}#fact=0") for document in ("ada.txt", "again.txt")]
    store.edit().reject(first)
    assert store.fact("ada.txt#fact=0").decision == "rejected"
    assert store.fact("again.txt#fact=0").decision is None
    assert first.head.iri != second.head.iri


def towns(store: Store) -> dict[str, str]:
    return {thing.name: thing.iri for thing in store.things()}


@pytest.fixture
def states(tmp_path: Path) -> Store:
    opened = Store.open(tmp_path / "states")
    for key, name in {"a": "USA", "b": "US", "c": "United States", "d": "US"}.items():
        town = ("LOC", f"Town of {key}")
        take_in(opened, make_document(key, [("LOC", name), town], [(1, "P17", 0)]))
    return opened


def test_things_are_merged_and_stay_so(states: Store) -> None:
    things = [states.find(name) for name in ("United States", "US", "USA")]
    states.edit("Eve", "one country").merge(things)
    assert len(states.neighbours("USA")) == 4
    assert states.find("US").name == "United States"
    reasons = {merge.reason for merge in states.merges("US")}
    assert "said by Eve: one country" in reasons
    states.delete("c")
    assert len(states.neighbours("USA")) == 3
    take_in(states, make_document("c", [("LOC", "United States")]))
    take_in(states, make_document("e", [("LOC", "USA"), ("LOC", "US")]))  # both in one document
    assert states.find("US") == states.find("USA") == states.find("United States")
    states.edit().undo()
    assert len({states.find(name) for name in ("United States", "US", "USA")}) == 3
    with pytest.raises(InputError, match="one thing already"):
        states.edit().merge([states.find("US"), states.find("US")])


def test_what_is_split_off_later_stays_out_of_a_merge(states: Store) -> None:
    states.edit().merge([states.find("USA"), states.find("US")])
    states.edit("Eve", "Usher").split("US", "d")
    take_in(states, make_document("d", [("LOC", "US"), ("LOC", "Rome")]))
    [apart] = [each for each in states.things(part="US") if "entity:d/" in each.iri]
    assert apart.iri not in {states.find("USA").iri}
    assert [said.action for said in states.corrections()] == ["merge", "split"]
    states.edit().undo()
    assert states.find("US") == states.find("USA")


def test_a_split_is_undone_while_its_document_is_away(states: Store) -> None:
    states.edit().split("US", "d")
    states.delete("d")
    states.edit().undo()
    take_in(states, make_document("d", [("LOC", "US")]))
    assert states.find("US")
    assert not states.statistics().told_apart


@pytest.mark.parametrize("leave", ["deleted", "replaced"])
def test_undoing_a_split_frees_those_who_inherited_it(tmp_path: Path, leave: str) -> None:
    store = Store.open(tmp_path / "heirs")
    a, b, c = (make_document(key, [("LOC", "Springfield")]) for key in "abc")
    take_in(store, a, b)
    store.edit().split("Springfield", "b")
    store.delete("a")
    take_in(store, c)  # it joins b, the only one there is
    if leave == "deleted":
        store.delete("b")
    else:
        take_in(store, make_document("b", [("LOC", "Rome")]))
    take_in(store, a)
    assert len(list(store.things(part="Springfield"))) == 2  # c stands in the place of b
    store.edit().undo()
    assert len(list(store.things(part="Springfield"))) == 1
    assert not store.statistics().told_apart


def test_undoing_one_of_two_splits_leaves_the_other(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "twice")
    take_in(store, *(make_document(key, [("LOC", "Springfield")]) for key in "abc"))
    store.edit().split("Springfield", "b")
    store.edit().split("Springfield", "c")
    store.edit().undo(1)
    [alone] = [each for each in store.clusters() if len(each.members) == 2]
    assert not any("entity:c/" in member for member in alone.members)


def test_joining_undoes_the_split_in_the_journal(states: Store) -> None:
    states.edit("Eve").split("US", "d")
    states.join("US", "d")
    [said] = states.corrections()
    assert said.undone
    with pytest.raises(InputError, match="no correction stands"):
        states.edit().undo()


def test_a_new_name_is_shown_and_found(states: Store) -> None:
    states.edit().rename(states.find("US"), "Republic")
    take_in(states, make_document("e", [("LOC", "US")]))
    assert {thing.name for thing in states.things("LOC", "Rep")} == {"Republic"}
    assert states.find("republic") == states.find("US")
    assert states.find("US").name == "Republic"
    asked = 'SELECT ?e { ?e rdfs:label "Republic" ; skos:altLabel "US" }'
    assert len(list(states.query(asked))) == 3
    states.edit().undo()
    assert states.find("US").name == "US"
    with pytest.raises(InputError, match="nothing is called"):
        states.find("republic")


def test_a_new_type_is_shown_and_asked_for(states: Store) -> None:
    states.edit().retype(states.find("US"), "GPE")
    assert str(states.find("US", "GPE")) == "US (GPE)"
    assert states.statistics().types == {"LOC": 6, "GPE": 2}
    states.delete("b")
    take_in(states, make_document("b", [("LOC", "US")]))
    assert len(list(states.query("SELECT ?e { ?e a type:GPE }"))) == 2
    states.edit().undo()
    assert states.statistics().types == {"LOC": 7}


def test_queries_find_what_holds_and_can_ask_for_the_rest(store: Store) -> None:
    store.edit("Eve", "no").reject(store.fact(*BIRTH))
    store.edit().accept(store.fact("Ada Lovelace", "employer", "Charles Babbage"))
    plain = list(store.query("SELECT ?b { ?a wdt:P19 ?b ; rdfs:label 'Ada Lovelace' }"))
    stated = list(store.query("SELECT ?f { ?f rdf:reifies <<( ?a wdt:P19 ?b )>> }"))
    assert (len(plain), len(stated)) == (0, 1)
    asked = (
        "SELECT ?who ?why { ?fact a fl:RejectedFact ; fl:rejectedPredicate wdt:P19 ; "
        "fl:correction ?said . ?said dcterms:creator ?who ; fl:reason ?why }"
    )
    assert {(row["who"].value, row["why"].value) for row in store.query(asked)} == {("Eve", "no")}
    assert len(list(store.query("SELECT ?f { ?f fl:decision 'accepted' ; fl:score ?s }"))) == 1
    assert store.statistics().facts == 4


def test_mistakes_are_told(store: Store) -> None:
    def code(*words: str) -> str:
        with pytest.raises(InputError) as caught:
            store.fact(*words)
        return caught.value.code

    assert code("7") == code("x#fact=0") == code("ada.txt") == code("ada.txt#fact=9")
    assert code("7") == "unknown-fact"
    assert code("a", "b") == "fact-named-how"
    assert code("Ada Lovelace", "employer", "London") == "no-such-fact"
    assert code("Ada Lovelace", "friend", "London") == "no-such-relation"
    assert code("Nobody", "employer", "London") == "unknown-name"
    fact = store.fact(*BIRTH)
    wrong = {
        "corrects-nothing": lambda: store.edit().correct(fact, relation="P19"),
        "no-such-correction": lambda: store.edit().undo(3),
        "nothing-to-undo": lambda: store.edit().undo(),
        "empty-value": lambda: store.edit().rename(store.find("London"), " "),
    }
    for expected, act in wrong.items():
        with pytest.raises(InputError) as caught:
            act()
        assert caught.value.code == expected
    assert list(store.corrections()) == []


def test_who_and_why_may_be_any_text(store: Store) -> None:
    store.edit('E"v\\e\n\udcff', "a\x00b").reject(store.fact(*BIRTH))
    [said] = store.corrections()
    assert isinstance(said, Correction)
    assert said.who == 'E"v\\e\n?'
    assert isinstance(store.fact(*BIRTH), Connection)


@pytest.mark.parametrize("lost", [ABOUT, ACTION, NUMBER])
def test_a_correction_of_which_a_part_is_lost_is_none(store: Store, lost: NamedNode) -> None:
    """As in a damaged store, where a statement may be lost and another not."""
    store.edit("Eve").accept(store.fact("ada.txt#fact=0"))

    class Damaged:
        def match(self, *pattern: Any) -> Iterator[Quad]:
            quads = store.disk.quads_for_pattern(*pattern)
            return (quad for quad in quads if quad.predicate != lost)

    assert Journal(Changes(store.disk)).get(1) is not None
    assert Journal(Damaged()).get(1) is None


def test_a_rebuilt_store_has_all_corrections(states: Store, tmp_path: Path) -> None:
    states.edit("Eve", "one").merge([states.find("USA"), states.find("US")])
    states.edit().split("US", "d")
    states.edit().rename(states.find("United States"), "States")
    states.edit().reject(states.fact("Town of a", "country", "USA"))
    states.edit().undo(3)
    expected, said = sorted(states.disk, key=str), list(states.corrections())
    directory = states.directory
    states.close()
    assert check(directory).is_whole
    assert rebuild(directory, tmp_path / "new").corrections == 4
    with Store.read(tmp_path / "new") as new:
        assert list(new.corrections()) == said
        assert sorted(new.disk, key=str) == expected
        assert new.fact("Town of a", "country", "USA").decision == "rejected"
