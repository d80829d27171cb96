"""A person at work on a store: each word is one transaction, written down with who, when and why.

with Store.open("graph") as store:
    editor = store.edit(who="Ada", why="she was baptised a Lutheran")
    editor.reject(store.fact("Angela Merkel", "religion", "Islam"))
    editor.undo()
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from factloom.errors import InputError, Place
from factloom.graph.changes import Changes
from factloom.graph.corrections import (
    Correction,
    Journal,
    Party,
    Target,
    strike_out,
    thing_keys,
    write_down,
)
from factloom.graph.facts import Connection, Thing
from factloom.graph.identifiers import document_of_entity, is_property
from factloom.graph.lookup import Lookup
from factloom.graph.stored_things import StoredThings
from factloom.graph.uniting import documents_of, entity_party, find_entities, party_of, settle
from factloom.text.relation_names import RELATION_NAMES, RelationLookup

if TYPE_CHECKING:
    from factloom.graph.store import Store


class Editor:
    """What somebody says about facts and things; the store's word is theirs from then on."""

    def __init__(self, store: "Store", who: str, why: str, when: str | None = None) -> None:
        self.store = store
        self.who = _clean(who)
        self.why = _clean(why)
        self.when = when

    # --- facts -------------------------------------------------------------------------------

    def reject(self, fact: Connection) -> Correction:
        """Say that a fact does not hold, whichever document states it, now or later."""
        return self._decide("reject", fact)

    def accept(self, fact: Connection) -> Correction:
        """Say that a fact holds."""
        return self._decide("accept", fact)

    def skip(self, fact: Connection) -> Correction:
        """Keep that nobody knew."""
        return self._decide("skip", fact)

    def correct(
        self,
        fact: Connection,
        *,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
    ) -> Correction:
        """Say what holds in the place of a fact: another relation, or other ends of it.

        The new ends are things that a document speaks of which states the fact: in its other
        documents, the fact is rejected.
        """
        lookup = self.store.lookup()
        relations = fact.relation if relation is None else self._relation(lookup, relation)
        ends = (
            thing if name is None else self._in_documents(lookup, name, fact)
            for thing, name in ((fact.head, head), (fact.tail, tail))
        )
        new_head, new_tail = ends
        if (new_head.iri, relations, new_tail.iri) == (
            fact.head.iri,
            fact.relation,
            fact.tail.iri,
        ):
            raise InputError("corrects-nothing", lookup.place)
        return self._decide("correct", fact, (new_head, relations, new_tail))

    def _decide(
        self, action: str, fact: Connection, instead: tuple[Thing, str, Thing] | None = None
    ) -> Correction:
        changes, things = self._begin()
        lookup = self.store.lookup()
        target = _target(things, fact.head, fact.relation, fact.tail)
        words = _words(lookup, fact.head, fact.relation, fact.tail)
        other = None
        if instead is not None:
            other = _target(things, *instead)
            words += f" → {_words(lookup, *instead)}"
        said = write_down(changes, self._said(action, words, fact=target, instead=other))
        if action != "skip":
            self._rewrite(changes, _documents(things, said))
        self.store.write(changes)
        return said

    def _in_documents(self, lookup: Lookup, name: str, fact: Connection) -> Thing:
        """A thing that one of the documents of a fact speaks of."""
        wanted = {thing.iri for thing in lookup.called(name)}
        for evidence in fact.evidence:
            for entity in sorted(lookup.things.entities_of(evidence.document)):
                root = lookup.things.root(entity)
                if root in wanted:
                    return lookup.thing(root)
        documents = ", ".join(evidence.document for evidence in fact.evidence)
        raise InputError("not-in-documents", lookup.place, name=name, documents=documents)

    def _relation(self, lookup: Lookup, name: str) -> str:
        """A relation that there is, or one of Wikidata's that is new here."""
        if is_property(name):
            return name
        try:
            return min(lookup.relations_called(name))
        except InputError:
            new = RelationLookup(RELATION_NAMES).ids(name)
            if not new:
                raise
            return new[0]

    # --- things ------------------------------------------------------------------------------

    def merge(self, things: Sequence[Thing]) -> Correction:
        """Say that things are one; it is called as the first of them."""
        if len({thing.iri for thing in things}) < 2:
            raise InputError("already-one", self._place(), name=things[0].name)
        return self._say_of("merge", things, " = ".join(thing.name for thing in things))

    def rename(self, thing: Thing, name: str) -> Correction:
        """Say what a thing is called."""
        clean = " ".join(_clean(name).split())
        if not clean:
            raise InputError("empty-value", self._place(), what="name")
        return self._say_of("rename", [thing], f"{thing.name} → {clean}", clean)

    def retype(self, thing: Thing, type: str) -> Correction:
        """Say of which type a thing is."""
        clean = " ".join(_clean(type).split())
        if not clean:
            raise InputError("empty-value", self._place(), what="type")
        return self._say_of("retype", [thing], f"{thing.name}: {thing.type} → {clean}", clean)

    def _say_of(
        self, action: str, about: Sequence[Thing], words: str, value: str = ""
    ) -> Correction:
        changes, things = self._begin()
        parties = tuple(party_of(things, thing.iri, thing.name, typed=True) for thing in about)
        said = write_down(changes, self._said(action, words, things=parties, value=value))
        self._make_so(changes, things, said)
        self.store.write(changes)
        return said

    def _make_so(self, changes: Changes, things: StoredThings, said: Correction) -> None:
        """Let things be as a correction says that was just made, or as they are without it."""
        if said.action in ("merge", "rename"):
            found = {each for party in said.things for each in find_entities(things, party, {})}
            for root in sorted({things.root(entity) for entity in found}):
                if said.undone:
                    things.judge_anew(root)
                else:
                    things.touched |= set(things.members(root))
        settle(things, {})
        if said.action != "merge":
            self._rewrite(changes, _documents(things, said))

    def split(self, name: str, document: str, type: str | None = None) -> list[str]:
        """Say that what a document calls `name` is not what other documents call so.

        The entities that it was one with.
        """
        entity = self.store.entity(name, document, type)
        changes, things = self._begin()
        party = entity_party(things.profile(entity), things.profile(entity).label)
        others = things.beside(entity)
        if others:
            words = f"{party.name} of {document}"
            said = write_down(changes, self._said("split", words, things=(party,)))
            things.split(entity, said.iri)
            settle(things, {})
            self.store.write(changes)
        return others

    def join(self, name: str, document: str, type: str | None = None) -> list[str]:
        """Take back the splits of what a document calls `name`, which is judged as any other then.

        The entities that it is one with now.
        """
        entity = self.store.entity(name, document, type)
        changes, things = self._begin()
        if not things.is_taken_out(entity):
            split = {document_of_entity(each) for each in things.taken_out(entity)}
            place = Place(file=self._place().file, document=document)
            listed = ", ".join(sorted(split)) or "none"
            raise InputError("not-split", place, name=name, documents=listed)
        self._join(changes, things, entity)
        self.store.write(changes)
        return things.beside(entity)

    def _join(self, changes: Changes, things: StoredThings, entity: str) -> None:
        for said in Journal(changes).about_things(thing_keys(things.profile(entity))):
            if said.action == "split":
                strike_out(changes, said, self._now())
                things.take_back_split(said.iri)
        things.join(entity)
        settle(things, {})

    # --- the journal -------------------------------------------------------------------------

    def undo(self, number: int | None = None) -> Correction:
        """Take a correction back, the last that stands unless its number is given."""
        said = self._standing(number)
        changes, things = self._begin()
        strike_out(changes, said, self._now())
        undone = Journal(changes).get(said.number)
        assert undone is not None  # it was there a line ago
        if said.fact is not None:
            self._rewrite(changes, _documents(things, said))
        elif said.action == "split":
            things.take_back_split(said.iri)
            settle(things, {})
        else:
            self._make_so(changes, things, undone)
        self.store.write(changes)
        return undone

    def _standing(self, number: int | None) -> Correction:
        journal = Journal(Changes(self.store.disk))
        numbers = range(journal.count(), 0, -1) if number is None else (number,)
        for each in numbers:
            said = journal.get(each)
            if said is not None and not said.undone:
                return said
        if number is None:
            raise InputError("nothing-to-undo", self._place())
        raise InputError("no-such-correction", self._place(), number=number)

    # --- inside ------------------------------------------------------------------------------

    def _begin(self) -> tuple[Changes, StoredThings]:
        changes = Changes(self.store.disk)
        return changes, StoredThings(changes)

    def _said(
        self,
        action: str,
        words: str,
        *,
        fact: Target | None = None,
        instead: Target | None = None,
        things: tuple[Party, ...] = (),
        value: str = "",
    ) -> Correction:
        return Correction(
            number=0,
            action=action,
            who=self.who,
            when=self._now(),
            why=self.why,
            words=words,
            fact=fact,
            instead=instead,
            things=things,
            value=value,
        )

    def _now(self) -> str:
        return self.when or datetime.now(UTC).isoformat(timespec="seconds")

    def _rewrite(self, changes: Changes, documents: Iterable[str]) -> None:
        for document in sorted(documents):
            self.store.rewrite(document, changes)

    def _place(self) -> Place:
        return self.store.place


def _documents(things: StoredThings, said: Correction) -> set[str]:
    """The documents of which a correction may change something."""
    found: set[str] = set()
    for target in (said.fact, said.instead):
        if target is not None:
            found |= documents_of(things, target.head) & documents_of(things, target.tail)
    return found.union(*(documents_of(things, party) for party in said.things))


def _target(things: StoredThings, head: Thing, relation: str, tail: Thing) -> Target:
    ends = (party_of(things, thing.iri, thing.name, typed=False) for thing in (head, tail))
    first, last = ends
    return Target(first, relation, last)


def _words(lookup: Lookup, head: Thing, relation: str, tail: Thing) -> str:
    return f"{head.name}, {lookup.in_words(relation)}, {tail.name}"


def _clean(text: str) -> str:
    """Text that can be kept: half of a surrogate pair, as an argument may hold, is none."""
    return text.encode("utf-8", "replace").decode("utf-8")
