"""What people have said of things, made so: merges, and names by which things are found.

Merging by evidence places entities; whatever it does, a person's merges are made on top of it, in
their order: the things of all entities that a merge speaks of are put below the thing of its first
party. An entity that was split off later than the merge was made stays out.
"""

from collections.abc import Iterable, Iterator, Mapping, Set

from factloom.graph.corrections import (
    Correction,
    Journal,
    Party,
    fact_keys,
    make_key,
    names_everywhere,
    names_here,
    read_key,
    thing_keys,
)
from factloom.graph.identifiers import document_of_entity
from factloom.graph.merging import Merge
from factloom.graph.name_keys import name_key
from factloom.graph.profiles import Profile, plain_key, telling_key
from factloom.graph.stored_things import StoredThings
from factloom.graph.vocabulary import CORRECTION_START

Present = Mapping[str, Set[str]]  # the entities of documents that are being exchanged


def settle(things: StoredThings, present: Present) -> None:
    """Make what people have said of the entities that were placed anew."""
    placed, things.touched = things.touched, set()
    journal = Journal(things.changes)
    touched = [each for each in sorted(placed) if things.has(each)] if journal.count() else []
    if touched:
        _Settling(things, journal, present).settle(touched)


def find_entities(things: StoredThings, party: Party, present: Present) -> Iterator[str]:
    """One entity or more of each thing that has one of a party.

    Keys with a type are those of things, the others those of the ends of facts.
    """
    for key in sorted(party.keys):
        name, type, document = read_key(key)
        keys_of = thing_keys if type else fact_keys
        if not document:
            found: Iterable[str] = _keepers(things, name)
        else:
            found = sorted(present.get(document) or things.entities_of(document))
        for entity in found:
            if things.has(entity) and key in keys_of(things.profile(entity)):
                yield entity


def documents_of(things: StoredThings, party: Party) -> set[str]:
    """The documents that may speak of a party."""
    roots = {things.root(entity) for entity in find_entities(things, party, {})}
    return {document_of_entity(member) for root in roots for member in things.members(root)}


def party_of(things: StoredThings, root: str, name: str, *, typed: bool) -> Party:
    """A thing by the keys of its entities: names of its own everywhere, others where they stand."""
    keys: set[str] = set()
    own: dict[tuple[str, str], bool] = {}
    for member in things.members(root):
        profile = things.profile(member)
        type = profile.type.upper() if typed else ""
        everywhere = names_everywhere(profile)
        for each in names_here(profile):
            if each in everywhere and (each, type) not in own:
                own[each, type] = not _is_shared(things, each, type, root)
            is_own = each in everywhere and own[each, type]
            keys.add(make_key(each, type, "" if is_own else profile.document))
    return Party(name, frozenset(keys))


def entity_party(profile: Profile, name: str) -> Party:
    """An entity of one document, and no other."""
    type = profile.type.upper()
    keys = (make_key(each, type, profile.document) for each in names_here(profile))
    return Party(name, frozenset(keys))


def _is_shared(things: StoredThings, name: str, type: str, root: str) -> bool:
    """Whether another thing has this name, too."""
    for keeper in _keepers(things, name):
        profile = things.profile(keeper)
        is_called = name in names_everywhere(profile)
        if is_called and type in ("", profile.type.upper()) and things.root(keeper) != root:
            return True
    return False


def _keepers(things: StoredThings, name: str) -> Iterator[str]:
    keys = (name,) if name[:1] == "#" else (telling_key(name), plain_key(name))
    for key in keys:
        yield from things.keepers(key)


class _Settling:
    def __init__(self, things: StoredThings, journal: Journal, present: Present) -> None:
        self.things = things
        self.journal = journal
        self.present = present

    def settle(self, touched: Iterable[str]) -> None:
        merges: dict[int, Correction] = {}
        for entity in touched:
            for said in self.journal.about_things(thing_keys(self.things.profile(entity))):
                if said.action == "merge":
                    merges[said.number] = said
                elif said.action == "rename":
                    self._keep_name(entity, said.value)
        if any(len(set(self._roots(merge))) > 1 for merge in merges.values()):
            self._unite_all(merges)

    def _keep_name(self, entity: str, name: str) -> None:
        """Let a thing be found by its new name; it is no evidence for merging."""
        key, root = plain_key(name_key(name)), self.things.root(entity)
        if all(self.things.root(keeper) != root for keeper in self.things.keepers(key)):
            self.things.keep(entity, key)

    def _unite_all(self, merges: dict[int, Correction]) -> None:
        """Make merges anew, with all others that they touch, so that their order alone counts."""
        waiting = list(merges.values())
        for merge in waiting:  # it grows on the way
            for root in set(self._roots(merge)):
                for number in self._made_in(root) - merges.keys():
                    found = self.journal.get(number)
                    assert found is not None  # a merge that is undone leaves nothing behind
                    merges[number] = found
                    waiting.append(found)
        for merge in waiting:
            for root in set(self._roots(merge)):
                self._take_apart(root)
        for number in sorted(merges):
            self._unite(merges[number])

    def _unite(self, said: Correction) -> None:
        first, *others = dict.fromkeys(self._roots(said)) or [""]
        reason = f"said by {said.who}: {said.why}" if said.why else f"said by {said.who}"
        for root in others:
            self.things.merge(Merge(root, first, 1.0, reason, said.iri))

    def _roots(self, said: Correction) -> Iterator[str]:
        """The things that a merge speaks of, those of its first party first."""
        for party in said.things:
            for entity in find_entities(self.things, party, self.present):
                if not self._was_split_later(entity, said.number):
                    yield self.things.root(entity)

    def _was_split_later(self, entity: str, number: int) -> bool:
        about = self.journal.about_things(thing_keys(self.things.profile(entity)))
        return any(said.action == "split" and said.number > number for said in about)

    def _made_in(self, root: str) -> set[int]:
        """The merges of people within a thing."""
        made = map(self.things.merge_of, self.things.members(root))
        return {_number(merge) for merge in made if merge is not None and _is_said(merge)}

    def _take_apart(self, root: str) -> None:
        for member in self.things.members(root):
            merge = self.things.merge_of(member)
            if merge is not None and _is_said(merge):
                self.things.unmerge(member)


def _is_said(merge: Merge) -> bool:
    return merge.shown_by.startswith(CORRECTION_START)


def _number(merge: Merge) -> int:
    return int(merge.shown_by.removeprefix(CORRECTION_START))
