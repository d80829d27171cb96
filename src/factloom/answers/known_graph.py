"""The graph as questions need it: things by name, and facts around them."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

from factloom.answers.answer import Proof
from factloom.graph.changes import Changes
from factloom.graph.facts import Connection, Evidence, Thing
from factloom.graph.lookup import Lookup
from factloom.graph.store import Store
from factloom.graph.stored_things import StoredThings

_REMEMBERED = 4096  # things and names


class KnownGraph(Protocol):
    """What can be asked questions: a store, or anything that knows names and facts."""

    @property
    def relation_names(self) -> Mapping[str, str]:
        """The relations that there are, in words."""
        ...

    def called(self, name: str) -> list[Thing]:
        """The things that have this name."""
        ...

    def facts(self, thing: Thing) -> list[Connection]:
        """The facts about a thing, the surest first."""
        ...

    def facts_of(self, relation: str) -> list[Connection]:
        """All facts of a relation."""
        ...

    def proofs(self, evidence: Evidence) -> tuple[Proof, ...]:
        """The sentences that prove a fact, with their places."""
        ...


class StoreGraph:
    """The graph of a store that is open."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.relation_names = store.relation_names()
        lookup = Lookup(StoredThings(Changes(store.disk)), store.place)
        self.called = lru_cache(_REMEMBERED)(lookup.called)
        self.facts = lru_cache(_REMEMBERED)(lookup.neighbours)
        self.facts_of = lru_cache(_REMEMBERED)(lookup.facts_of)

    def proofs(self, evidence: Evidence) -> tuple[Proof, ...]:
        text = self.store.document(evidence.document).text
        return tuple(_placed(evidence.document, text, said) for said in evidence.sentences)


def _placed(document: str, text: str, sentence: str) -> Proof:
    start = text.find(sentence)
    if start < 0:
        return Proof(document, sentence)
    return Proof(document, sentence, start, start + len(sentence))
