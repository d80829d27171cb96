"""Names, neighbours and paths in a store."""

from pathlib import Path

import pytest
from graph_documents import NAMES, ada, engine, make_document

from factloom.document import Document
from factloom.errors import InputError
from factloom.graph.identifiers import entity_iris
from factloom.graph.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store.open(tmp_path / "store")
    opened.ingest([ada(), engine()], relation_names=NAMES, model="test")
    return opened


@pytest.mark.parametrize(
    "name", ["Ada Lovelace", "ada lovelace", "ADA LOVELACE", "lovelace", "Dr. Ada Lovelace"]
)
def test_a_thing_is_found_by_any_of_its_names_in_any_case(store: Store, name: str) -> None:
    thing = store.find(name)
    assert (thing.iri, thing.name, thing.type) == (entity_iris(ada())[0], "Ada Lovelace", "PER")


def test_a_thing_is_found_by_the_address_of_any_of_its_entities(store: Store) -> None:
    assert store.find(entity_iris(engine())[0]) == store.find("Ada Lovelace")


def test_a_date_is_found_however_it_is_written(store: Store) -> None:
    assert store.find("December 10, 1815").name == "10 December 1815"


@pytest.mark.parametrize("name", ["Charles", "charls babbage", "Babbage, Charles"])
def test_an_unknown_name_gets_suggestions(store: Store, name: str) -> None:
    with pytest.raises(InputError, match="Charles Babbage") as found:
        store.find(name)
    assert found.value.code == "unknown-name"


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("Hedström", '"Anders Hedström"'),
        ("Anders Hedstrøm", '"Anders Hedström"'),
        ("W.H.O. Office", '"WHO"'),
        ("Xyzzy", "none"),
    ],
)
def test_names_are_suggested_as_they_are_written(store: Store, name: str, close: str) -> None:
    entities = [("PER", "Anders Hedström"), ("ORG", "World Health Organization|WHO")]
    store.ingest([make_document("names", entities)], relation_names={}, model="test")
    with pytest.raises(InputError) as found:
        store.find(name)
    assert f"that are there: {close}." in str(found.value)


@pytest.mark.parametrize(
    "name", ["\udcff", "urn:factloom:entity:\udcff", "urn:factloom:entity:a b"]
)
def test_a_name_that_no_text_or_address_can_be_is_unknown(store: Store, name: str) -> None:
    with pytest.raises(InputError) as found:
        store.neighbours(name)
    assert found.value.code == "unknown-name"
    str(found.value).encode()  # and can be printed


def test_an_ambiguous_name_lists_the_things_and_a_type_decides(store: Store) -> None:
    person = make_document("jack", [("PER", "Jack London|London")])
    store.ingest([person], relation_names={}, model="test")
    with pytest.raises(InputError, match=r"London \(LOC\).*Jack London \(PER\)") as found:
        store.find("london")
    assert found.value.code == "ambiguous-name"
    assert store.find("london", "loc").name == "London"
    assert store.find("london", "PER").name == "Jack London"


def test_things_of_one_name_and_type_are_told_apart_by_documents_and_a_fact(store: Store) -> None:
    def quist(key: str, year: str) -> Document:
        entities = [("ORG", "Quist Foods"), ("LOC", "London"), ("TIME", year)]
        return make_document(key, entities, [(0, "P17", 1), (0, "P571", 2)])

    documents = [quist("a.txt", "1980"), quist("b.txt", "1980"), quist("deep.md", "2 May 1950")]
    store.ingest(documents, relation_names={"P571": "inception"}, model="test")
    with pytest.raises(InputError) as found:
        store.find("Quist Foods")
    told = str(found.value)
    assert "Quist Foods (ORG) of a.txt and 1 more (Quist Foods inception 1980) urn:" in told
    assert "Quist Foods (ORG) of deep.md (Quist Foods inception 2 May 1950) urn:" in told
    assert "--type" not in told, "it would not help"


def test_a_type_decides_wherever_a_name_is_asked_for(store: Store) -> None:
    both = [("PER", "Ada King|King"), ("ORG", "King"), ("LOC", "London")]
    for key in ("a", "b"):
        document = make_document(key, both, [(0, "P19", 2), (1, "P17", 2)])
        store.ingest([document], relation_names={}, model="test")
    ambiguous = [
        lambda **type: store.path("King", "London", **{f"start_{k}": v for k, v in type.items()}),
        lambda **type: store.path("London", "King", **{f"goal_{k}": v for k, v in type.items()}),
        lambda **type: list(store.merges("King", **type)),
        lambda **type: store.split("King", "b", **type),
    ]
    for ask in ambiguous:
        with pytest.raises(InputError, match="--type"):
            ask()
        assert len(ask(type="org")) == 1


def test_neighbours_come_from_all_documents_with_score_and_evidence(store: Store) -> None:
    store.ingest([ada("again.txt")], relation_names=NAMES, model="test")
    found = {
        (each.head.name, each.relation, each.tail.name): each
        for each in store.neighbours("Ada lovelace")
    }
    assert set(found) == {
        ("Ada Lovelace", "P19", "London"),
        ("Ada Lovelace", "P569", "10 December 1815"),
        ("Ada Lovelace", "P108", "Charles Babbage"),
    }
    birth = found["Ada Lovelace", "P19", "London"]
    assert birth.score == 0.75
    assert {each.document for each in birth.evidence} == {"ada.txt", "again.txt"}
    assert birth.evidence[0].sentences == (
        "Ada Lovelace Lovelace stands here.",
        "London stands here.",
    )


def test_the_surest_facts_come_first_and_gold_is_sure(store: Store) -> None:
    entities = [("PER", "Ada Lovelace"), ("ORG", "Quillmark")]
    gold = make_document("gold", entities, [(0, "P108", 1)], score=None)
    store.ingest([gold], relation_names={}, model="people")
    assert store.neighbours("ada lovelace")[0].tail.name == "Quillmark"


def test_a_path_goes_through_things_that_documents_share(store: Store) -> None:
    steps = store.path("10 December 1815", "Charles Babbage")
    assert [(step.head.name, step.relation, step.tail.name) for step in steps] == [
        ("Ada Lovelace", "P569", "10 December 1815"),
        ("Ada Lovelace", "P108", "Charles Babbage"),
    ]
    assert store.path("10 December 1815", "Charles Babbage", longest=1) == []


def test_a_path_does_not_go_through_a_date(store: Store) -> None:
    other = make_document(
        "other", [("PER", "Mara Velden"), ("TIME", "10 December 1815")], [(0, "P569", 1)]
    )
    store.ingest([other], relation_names={}, model="test")
    assert store.path("Mara Velden", "Ada Lovelace") == []
    assert len(store.path("Mara Velden", "December 10, 1815")) == 1


def test_a_thing_has_no_path_to_itself(store: Store) -> None:
    assert store.path("London", "london") == []


def test_statistics_count_merged_entities_once(store: Store) -> None:
    store.split("London", "engine.txt")
    found = store.statistics()
    assert (found.documents, found.entities, found.things, found.facts) == (2, 6, 5, 4)
    assert (found.merges, found.told_apart) == (1, 1)
    assert found.types == {"PER": 3, "LOC": 2, "TIME": 1}
    assert found.relations == {"P19": 2, "P108": 1, "P569": 1}


@pytest.mark.parametrize(
    ("name", "close"), [("Babbages", '"Charles Babbage"'), ("Charles", '"Charles Babbage"')]
)
def test_a_split_of_a_name_that_the_document_has_not_lists_similar_ones_of_the_document(
    store: Store, name: str, close: str
) -> None:
    with pytest.raises(InputError) as found:
        store.split(name, "engine.txt")
    assert f"that are there: {close}." in str(found.value)


def test_a_split_of_a_name_unlike_all_of_the_document_lists_none(store: Store) -> None:
    with pytest.raises(InputError, match="that are there: none"):
        store.split("Austria", "engine.txt")


def test_a_split_of_a_name_that_two_entities_have_asks_which(store: Store) -> None:
    twins = make_document("twins", [("PER", "Ada"), ("LOC", "Ada")])
    store.ingest([twins], relation_names={}, model="test")
    with pytest.raises(InputError) as found:
        store.split("ada", "twins")
    assert found.value.code == "ambiguous-name"
    assert store.split(entity_iris(twins)[1], "twins") == []


def test_a_thing_related_to_itself_has_its_evidence_once(tmp_path: Path) -> None:
    with Store.open(tmp_path / "self") as store:
        document = make_document("self", [("ORG", "Quillmark")], [(0, "P355", 0)])
        store.ingest([document], relation_names={}, model="test")
        [connection] = store.neighbours("Quillmark")
        assert len(connection.evidence) == 1


@pytest.mark.parametrize("name", ["http://x.org/a", "urn:factloom:entity:x", "urn:isbn:5"])
def test_a_thing_that_is_named_like_an_address_is_found_by_its_name(
    store: Store, name: str
) -> None:
    store.ingest([make_document("web", [("MISC", name)])], relation_names={}, model="test")
    assert store.find(name).name == name
    assert store.split(name, "web") == []


def test_things_are_those_of_any_name_once(store: Store) -> None:
    assert {thing.name for thing in store.things()} == {
        "Ada Lovelace",
        "Charles Babbage",
        "London",
        "10 December 1815",
    }
    assert [thing.name for thing in store.things("per", "BABB")] == ["Charles Babbage"]
    other_name = [thing.name for thing in store.things(part="lovelace")]
    assert other_name == ["Ada Lovelace"]


def test_facts_without_a_score_pass_any_least_score(store: Store) -> None:
    gold = make_document("gold", [("PER", "Ada Lovelace"), ("ORG", "X")], [(0, "P108", 1)], None)
    store.ingest([gold], relation_names={}, model="people")
    found = store.neighbours("ada lovelace", minimum_score=0.9)
    assert [each.tail.name for each in found] == ["X"]
