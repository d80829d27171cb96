"""Any sequence of ingests, corrections, undos and deletions leaves what a naive model says.

The model is a dictionary of documents and a list of what was said. After every step it works out
all facts, names, types and things from nothing, by loops; the store must say the same.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from graph_documents import NAMES, make_document
from hypothesis import given, settings
from hypothesis import strategies as st

from factloom.document import Document
from factloom.errors import InputError
from factloom.graph.facts import Connection
from factloom.graph.store import Store

TOWNS = ("Arden", "Brill", "Cove", "Dorn")
RELATIONS = ("P17", "P19", "P108")
Fact = tuple[str, str, str]  # names of head and tail as the document has them

documents = st.builds(
    lambda key, names, facts: (key, tuple(names), facts),
    st.sampled_from("xyz"),
    st.lists(st.sampled_from(TOWNS), min_size=2, max_size=3, unique=True),
    st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from(RELATIONS), st.integers(0, 1)).filter(
            lambda fact: fact[0] != fact[2]
        ),
        max_size=3,
        unique=True,
    ),
)
index = st.integers(0, 20)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("ingest"), documents),
        st.tuples(st.just("ingest"), documents),
        st.tuples(st.just("delete"), st.sampled_from("xyz")),
        st.tuples(st.sampled_from(["reject", "accept"]), index),
        st.tuples(st.just("correct"), index, st.sampled_from(RELATIONS), index),
        st.tuples(st.just("merge"), index, index),
        st.tuples(st.sampled_from(["rename", "retype"]), index, st.sampled_from(["New", "Other"])),
        st.tuples(st.just("undo"), index),
    ),
    max_size=14,
)


@dataclass
class Said:
    """A correction in names: `heads` and `tails` are all names that the two ends had."""

    action: str
    heads: set[str] = field(default_factory=set)
    relation: str = ""
    tails: set[str] = field(default_factory=set)
    instead: tuple[set[str], str, set[str]] | None = None
    groups: list[set[str]] = field(default_factory=list)
    value: str = ""
    stands: bool = True


class Model:
    """Documents by their keys, and what was said, in order."""

    def __init__(self) -> None:
        self.documents: dict[str, tuple[tuple[str, ...], list[tuple[int, str, int]]]] = {}
        self.said: list[Said] = []

    def names(self) -> set[str]:
        return {name for names, _ in self.documents.values() for name in names}

    def standing(self, *actions: str) -> list[Said]:
        return [said for said in self.said if said.stands and said.action in actions]

    def things(self) -> list[set[str]]:
        """Entities of one name are one thing, and whatever people have merged."""
        found = [{name} for name in self.names()]
        for said in self.standing("merge"):
            wanted = set().union(*said.groups)
            together = [thing for thing in found if thing & wanted]
            if together:
                found = [thing for thing in found if not thing & wanted]
                found.append(set().union(*together))
        return found

    def last(self, action: str, name: str) -> str | None:
        values = [said.value for said in self.standing(action) if name in said.groups[0]]
        return values[-1] if values else None

    def facts(self) -> Iterator[tuple[str, int, Fact, str | None]]:
        for key, (names, facts) in self.documents.items():
            for number, (head, relation, tail) in enumerate(facts):
                yield key, number, *self.decided(names, (names[head], relation, names[tail]))

    def decided(self, names: tuple[str, ...], fact: Fact) -> tuple[Fact, str | None]:
        decision = None
        for said in self.standing("reject", "accept", "correct"):
            head, relation, tail = fact
            if head in said.heads and relation == said.relation and tail in said.tails:
                if said.instead is None:
                    decision = f"{said.action}ed"
                    continue
                heads, other, tails = said.instead
                new_head = head if head in heads else first(names, heads)
                new_tail = tail if tail in tails else first(names, tails)
                if new_head is None or new_tail is None:
                    decision = "rejected"
                else:
                    fact, decision = (new_head, other, new_tail), "corrected"
            elif said.instead is not None:
                heads, other, tails = said.instead
                if head in heads and relation == other and tail in tails:
                    decision = "accepted"
        return fact, decision


def first(names: tuple[str, ...], wanted: set[str]) -> str | None:
    return next((name for name in names if name in wanted), None)


class Both:
    """The store and the model, which are told the same."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.model = Model()

    def ingest(self, content: tuple[str, tuple[str, ...], list[tuple[int, str, int]]]) -> None:
        key, names, facts = content
        document: Document = make_document(key, [("LOC", name) for name in names], facts)
        self.store.ingest([document], relation_names=NAMES, model="test")
        self.model.documents[key] = (names, facts)

    def delete(self, key: str) -> None:
        if key in self.model.documents:
            self.store.delete(key)
            del self.model.documents[key]

    def _some_fact(self, index: int) -> tuple[str, Connection, set[str], str, set[str]] | None:
        found = list(self.model.facts())
        if not found:
            return None
        key, number, (head, relation, tail), _ = found[index % len(found)]
        named = self.store.fact(f"{key}#fact={number}")
        assert named.relation == relation
        return key, named, self._thing(head), relation, self._thing(tail)

    def _thing(self, name: str) -> set[str]:
        [thing] = [thing for thing in self.model.things() if name in thing]
        return thing

    def _some_name(self, index: int) -> str | None:
        names = sorted(self.model.names())
        return names[index % len(names)] if names else None

    def reject(self, index: int, action: str = "reject") -> None:
        if (some := self._some_fact(index)) is not None:
            _, named, *ends = some
            getattr(self.store.edit("Eve"), action)(named)
            self.model.said.append(Said(action, *ends))

    def accept(self, index: int) -> None:
        self.reject(index, "accept")

    def correct(self, index: int, relation: str, other: int) -> None:
        if (some := self._some_fact(index)) is None:
            return
        key, named, heads, old, tails = some
        names = self.model.documents[key][0]
        tail = names[other % len(names)]
        if relation == old and tail in tails:
            with pytest.raises(InputError, match="says this already"):
                self.store.edit().correct(named, relation=relation, tail=tail)
            return
        self.store.edit().correct(named, relation=relation, tail=tail)
        instead = (heads, relation, self._thing(tail))
        self.model.said.append(Said("correct", heads, old, tails, instead))

    def merge(self, one: int, other: int) -> None:
        left, right = self._some_name(one), self._some_name(other)
        if left is None or right is None or self._thing(left) == self._thing(right):
            return
        self.store.edit().merge([self.store.find(left), self.store.find(right)])
        self.model.said.append(Said("merge", groups=[self._thing(left), self._thing(right)]))

    def rename(self, index: int, value: str, action: str = "rename") -> None:
        if (name := self._some_name(index)) is not None:
            getattr(self.store.edit(), action)(self.store.find(name), value)
            self.model.said.append(Said(action, groups=[self._thing(name)], value=value))

    def retype(self, index: int, value: str) -> None:
        self.rename(index, value, "retype")

    def undo(self, index: int) -> None:
        numbers = [number for number, said in enumerate(self.model.said) if said.stands]
        if numbers:
            number = numbers[index % len(numbers)]
            assert self.store.edit().undo(number + 1).undone
            self.model.said[number].stands = False

    def compare(self) -> None:
        model, store = self.model, self.store
        assert {document.id for document in store.documents()} == set(model.documents)
        for key, number, fact, decision in model.facts():
            stated = store.lookup().read_statement(f"urn:factloom:document:{key}#fact={number}")
            assert stated is not None
            assert stated.decision == decision
            assert stated.relation == fact[1]
            assert stated.head == store.find(fact[0])
            assert stated.tail == store.find(fact[2])
        self._compare_things()
        hidden = {"rejected"}
        shown = {(key, fact) for key, _, fact, decision in model.facts() if decision not in hidden}
        exported = {
            (document.id, (document.name(r.head), r.type, document.name(r.tail)))
            for document in (each.as_document() for each in store.corrected())
            for r in document.relations
        }
        assert exported == shown
        assert [bool(said.undone) for said in store.corrections()] == [
            not said.stands for said in model.said
        ]

    def _compare_things(self) -> None:
        roots = {name: self.store.find(name) for name in self.model.names()}
        for thing in self.model.things():
            assert len({roots[name] for name in thing}) == 1
        assert len(set(roots.values())) == len(self.model.things())
        said = {
            quads[0].subject.value: (quads[0].object.value, kind(self.store, quads[0].subject))
            for quads in labels(self.store)
        }
        for key, (names, _) in self.model.documents.items():
            for name in names:
                renamed = self.model.last("rename", name) or name
                retyped = self.model.last("retype", name) or "LOC"
                assert said[f"urn:factloom:entity:{key}/LOC/{name}"] == (renamed, retyped)


def labels(store: Store) -> Iterator[list]:
    from factloom.graph.stored_things import PROFILE
    from factloom.graph.vocabulary import LABEL

    for quad in store.disk.quads_for_pattern(None, PROFILE, None, None):
        yield list(store.disk.quads_for_pattern(quad.subject, LABEL, None, None))


def kind(store: Store, entity: object) -> str:
    from factloom.graph.vocabulary import A

    found = [quad.object.value for quad in store.disk.quads_for_pattern(entity, A, None, None)]
    [type] = [iri for iri in found if iri.startswith("urn:factloom:type:")]
    return type.rpartition(":")[2]


@settings(max_examples=60, deadline=None)
@given(steps)
def test_the_store_says_what_the_model_says(sequence: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store") as store:
        both = Both(store)
        for action, *arguments in sequence:
            act: Callable[..., None] = getattr(both, action)
            act(*arguments)
            both.compare()


# --- splits ----------------------------------------------------------------------------------

turns = st.lists(
    st.one_of(
        st.tuples(st.just("ingest"), documents),
        st.tuples(st.just("ingest"), documents),
        st.tuples(st.just("delete"), st.sampled_from("xyz")),
        st.tuples(st.just("split"), st.sampled_from("xyz"), index),
        st.tuples(st.just("merge"), index, index),
        st.tuples(st.just("undo"), index),
    ),
    max_size=14,
)
Entity = tuple[str, str]  # document and name


class Splitting:
    """What was told apart, in pairs of entities, and what was merged since."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.documents: dict[str, tuple[str, ...]] = {}
        self.splits: dict[int, tuple[Entity, set[Entity]]] = {}
        # The things of a merge: names, and entities where another thing had the name, too.
        self.merges: dict[int, list[set[str | Entity]]] = {}

    def ingest(self, content: tuple[str, tuple[str, ...], list[tuple[int, str, int]]]) -> None:
        key, names, _ = content
        document: Document = make_document(key, [("LOC", name) for name in names])
        self.store.ingest([document], relation_names=NAMES, model="test")
        self.documents[key] = names

    def delete(self, key: str) -> None:
        if self.documents.pop(key, None) is not None:
            self.store.delete(key)

    def split(self, key: str, index: int) -> None:
        if key in self.documents:
            name = self.documents[key][index % len(self.documents[key])]
            others = self.store.split(name, key)
            if others:
                self.splits[self._last()] = ((key, name), {entity_of(other) for other in others})

    def merge(self, one: int, other: int) -> None:
        roots = sorted({thing.iri for thing in self.store.things()})
        if len(roots) > 1 and one % len(roots) != other % len(roots):
            chosen = [roots[each % len(roots)] for each in (one, other)]
            parties = [self._party(root) for root in chosen]
            self.store.edit().merge([self.store.find(root) for root in chosen])
            self.merges[self._last()] = parties

    def _party(self, root: str) -> set[str | Entity]:
        roots = {entity: self._thing(entity) for entity in self._entities()}
        return {
            entity[1]
            if all(roots[each] == root for each in roots if each[1] == entity[1])
            else entity
            for entity, found in roots.items()
            if found == root
        }

    def undo(self, index: int) -> None:
        standing = self._standing()
        if standing:
            self.store.edit().undo(standing[index % len(standing)])

    def _last(self) -> int:
        return max(said.number for said in self.store.corrections())

    def _standing(self) -> list[int]:
        return [said.number for said in self.store.corrections() if not said.undone]

    def _entities(self) -> set[Entity]:
        return {(key, name) for key, names in self.documents.items() for name in names}

    def compare(self) -> None:
        entities, standing = self._entities(), self._standing()
        thing_of = {entity: self._thing(entity) for entity in entities}
        for number, (entity, others) in self.splits.items():
            merged_since = any(later > number for later in standing if later in self.merges)
            if number in standing and entity in entities and not merged_since:
                assert all(
                    thing_of[entity] != thing_of[other] for other in others if other in entities
                )
        if not self.splits.keys() & set(standing):  # all is as if none had ever been said
            assert not self.store.statistics().told_apart
            found = {
                frozenset(each for each in entities if thing_of[each] == root)
                for root in thing_of.values()
            }
            assert found == set(map(frozenset, self._things(standing)))

    def _things(self, standing: list[int]) -> list[set[Entity]]:
        """Entities of one name are one thing, and whatever people have merged."""
        entities = self._entities()
        found = [
            {entity for entity in entities if entity[1] == name}
            for name in {name for _, name in entities}
        ]
        for number in standing:
            wanted = set().union(*self.merges.get(number, []))
            together = [thing for thing in found if any({each, each[1]} & wanted for each in thing)]
            found = [thing for thing in found if thing not in together]
            found += [set().union(*together)] if together else []
        return found

    def _thing(self, entity: Entity) -> str:
        key, name = entity
        return self.store.find(f"urn:factloom:entity:{key}/LOC/{name}").iri


def entity_of(iri: str) -> Entity:
    key, _, name = iri.removeprefix("urn:factloom:entity:").split("/")
    return key, name


@settings(max_examples=60, deadline=None)
@given(turns)
def test_what_was_split_stays_apart_until_it_is_undone(sequence: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store") as store:
        both = Splitting(store)
        for action, *arguments in sequence:
            act: Callable[..., None] = getattr(both, action)
            act(*arguments)
            both.compare()
        while any(not said.undone for said in store.corrections()):
            store.edit().undo()
        both.compare()
