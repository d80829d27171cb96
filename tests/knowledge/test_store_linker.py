"""Names of new documents mean what they meant in the documents before."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from factloom.document import Document, Entity, Mention, Sentence
from factloom.graph.identifiers import entity_iris
from factloom.graph.profiles import Profile, profiles
from factloom.graph.store import Store
from factloom.knowledge.store_linker import StoreLinker


def told(id: str, *entities: tuple[str, str], given: str | None = None) -> Document:
    """A sentence for each entity, of (type, names)."""
    text, sentences, mentions, found = "", [], [], []
    for type, names in entities:
        start, indices = len(text), []
        for name in names.split("|"):
            indices.append(len(mentions))
            mentions.append(Mention(len(text), len(text) + len(name), type))
            text += f"{name} "
        text += "came. "
        sentences.append(Sentence(start, len(text) - 1))
        found.append(Entity(tuple(indices), type, given))
    return Document(text, id, tuple(sentences), tuple(mentions), tuple(found))


ADA = ("PER", "Ada Brook|Brook")


class Growing:
    """A store that each document is linked to, and then goes into."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.linker = StoreLinker(store)

    def add(self, document: Document) -> list[str | None]:
        linked = self.linker.link(document)
        self.store.ingest([linked], relation_names={}, model="m")
        return [entity.id for entity in linked.entities]

    def thing(self, document: Document, index: int = 0) -> str:
        return self.store.lookup().things.root(entity_iris(document)[index])


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Growing]:
    with Store.open(tmp_path / "graph") as store:
        found = Growing(store)
        for id in ("a", "b"):
            found.add(told(id, ADA))
        yield found


def test_a_surname_means_who_it_meant_before(graph: Growing) -> None:
    alone = told("c", ("PER", "Brook"))
    assert graph.add(alone) == [entity_iris(told("a", ADA))[0]]
    assert graph.thing(alone) == graph.thing(told("a", ADA))


def test_without_links_a_surname_stays_alone(graph: Growing) -> None:
    alone = told("c", ("PER", "Brook"))
    graph.store.ingest([alone], relation_names={}, model="m")
    assert graph.thing(alone) == entity_iris(alone)[0]


def test_one_document_before_is_enough_where_a_name_means_nothing_else(tmp_path: Path) -> None:
    with Store.open(tmp_path / "graph") as store:
        found = Growing(store)
        assert found.add(told("a", ADA)) == [None]
        assert found.add(told("b", ("PER", "Brook"))) == [entity_iris(told("a", ADA))[0]]


def test_two_who_share_a_surname_are_not_told_apart_by_it(graph: Growing) -> None:
    for id in ("d", "e"):
        graph.add(told(id, ("PER", "Bob Brook|Brook")))
    alone = told("c", ("PER", "Brook"))
    (entity,) = graph.linker.link(alone).entities
    assert entity.id is None
    assert len(entity.link_candidates) == 2


def test_first_names_that_differ_are_no_link(graph: Growing) -> None:
    other = told("c", ("PER", "Bob Brook|Brook|Brook|Brook"))
    assert graph.add(other) == [None]
    assert graph.thing(other) == entity_iris(other)[0]


def test_of_two_entities_one_is_the_thing(graph: Growing) -> None:
    assert graph.add(told("c", ADA, ("PER", "Brook"))) in (
        [entity_iris(told("a", ADA))[0], None],
        [None, entity_iris(told("a", ADA))[0]],
    )


def test_another_type_a_value_and_a_given_identifier_stay_as_they_are(graph: Growing) -> None:
    assert graph.add(told("c", ("ORG", "Brook"), ("TIME", "1999"))) == [None, None]
    assert graph.add(told("d", ADA, given="Q5")) == ["Q5"]


def test_what_people_have_told_apart_stays_apart(graph: Growing) -> None:
    alone = told("c", ("PER", "Brook"))
    graph.add(alone)
    graph.store.split("Brook", "c")
    graph.add(alone.replace(text=alone.text.rstrip() + " "))
    assert graph.thing(alone) == entity_iris(alone)[0]


def test_a_link_outlasts_that_its_thing_is_judged_anew(graph: Growing) -> None:
    alone = told("c", ("PER", "Brook"))
    linked = graph.linker.link(alone)
    (profile,) = profiles(linked, {})
    assert profile.link is not None
    assert Profile.from_json(profile.to_json()) == profile
    graph.store.ingest([linked], relation_names={}, model="m")
    graph.store.delete("b")
    assert graph.thing(alone) == entity_iris(told("a", ADA))[0]
    graph.store.delete("a")  # where the link leads
    assert graph.thing(alone) == entity_iris(alone)[0]
