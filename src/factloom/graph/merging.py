"""Entities of different documents become one thing, each step with a reason and a score.

Documents come one after the other. A new entity is compared with the things that share a key with
it (a name, or a surname together with a fact), and joins the best of them. Two things become one
when an entity shows that both of its names mean the same. Two entities of one document are never
merged: the coreference model has seen them side by side and kept them apart.

A thing is a tree of merges, one of its oldest entities at the root. A key is kept by the first
entity of a thing that has it, so that a name in ten thousand documents is found once.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from factloom.document import Document
from factloom.graph.judging import MERGED_FROM, Judgement, judge, judge_link
from factloom.graph.profiles import Profile, profiles

TOO_COMMON = 100  # so many things of one name: it tells no more which of them is meant


@dataclass(frozen=True, slots=True)
class Merge:
    """An entity and the older one that it is taken to be the same as."""

    entity: str
    parent: str
    score: float
    reason: str
    shown_by: str  # the entity whose coming showed it: without it the merge has no ground


@dataclass(frozen=True, slots=True)
class Cluster:
    """A thing: its entities, the oldest first, and why they are one."""

    canonical: str
    members: tuple[str, ...]
    merges: tuple[Merge, ...]


class Things(Protocol):
    """What is known so far; the store keeps it on disk, `KnownThings` in memory."""

    def keepers(self, key: str) -> Iterable[str]:
        """The entities that keep the key: one of each thing that has it."""

    def stands(self, entity: str) -> bool:
        """Whether the entity is known, and in its thing."""

    def profile(self, entity: str) -> Profile:
        """What is known of the entity."""

    def root(self, entity: str) -> str:
        """The entity that stands for its thing."""

    def documents(self, root: str) -> Set[str]:
        """The documents that speak of the thing."""

    def told_apart(self, entity: str) -> Set[str]:
        """The entities that a user has said to be others."""

    def all_told_apart(self) -> Iterable[tuple[str, str]]:
        """Every pair that a user has said to be different."""

    def is_taken_out(self, entity: str) -> bool:
        """Whether a user has taken the entity out of its thing."""


@dataclass(frozen=True, slots=True)
class Placement:
    """What a document adds to the things: merges, and the keys that its entities keep."""

    merges: tuple[Merge, ...]
    keys: tuple[tuple[str, str], ...]  # entity, key


def place(entities: Iterable[Profile], things: Things, taken: Iterable[str] = ()) -> Placement:
    """Find the thing of each entity of a document.

    `taken` are the things that other entities of the document are in already.
    """
    placing = _Placing(things, taken)
    for entity in entities:
        placing.add(entity)
    return Placement(tuple(placing.merges), tuple(placing.keys))


class _Placing:
    """One document on its way into the things, which are not changed before it is all in."""

    def __init__(self, things: Things, taken: Iterable[str]) -> None:
        self.things = things
        self.merges: list[Merge] = []
        self.keys: list[tuple[str, str]] = []
        self.joined: dict[str, str] = {}  # roots that this document has put below another
        self.taken = set(taken)  # roots of things that have an entity of this document
        self.roots: dict[str, str] = {}  # of keepers, before this document
        self.has_decisions = any(True for _ in things.all_told_apart())

    def add(self, entity: Profile) -> None:
        kept_by = {key: self._first_keepers(key) for key in entity.comparison_keys()}
        telling = (found for found in kept_by.values() if len(found) < TOO_COMMON)
        keepers = {keeper for found in telling for keeper in found}
        root = self._join(entity, self._choose(entity, keepers))
        self.taken.add(root)
        is_new = root == entity.iri  # then nothing keeps any key for it
        for key in entity.search_keys():
            kept_by[key] = [] if is_new else self._first_keepers(key)
        for key, found in kept_by.items():
            if is_new or root not in map(self._root, found):
                self.keys.append((entity.iri, key))

    def _first_keepers(self, key: str) -> list[str]:
        """Some of the keepers of a key: all, unless it is so common that it tells nothing.

        So a thing may keep a very common key twice: cheaper than to ask for all of its keepers.
        """
        return list(islice(self.things.keepers(key), TOO_COMMON))

    def _join(self, entity: Profile, chosen: list[tuple[str, Judgement]]) -> str:
        """Put the entity below the best thing, and the other things too if they may be the same."""
        if not chosen:
            return entity.iri
        (root, best), *others = chosen
        self.merges.append(Merge(entity.iri, root, best.score, best.reason, entity.iri))
        for thing, judgement in others:
            if self._may_unite(root, thing):
                reason = f"{judgement.reason} in {entity.document!r}"
                self.merges.append(Merge(thing, root, judgement.score, reason, entity.iri))
                self.joined[thing] = root
        return root

    def _choose(self, entity: Profile, keepers: set[str]) -> list[tuple[str, Judgement]]:
        """The things that the entity may be, the best first."""
        apart = self.things.told_apart(entity.iri) if self.has_decisions else frozenset()
        refused = {self._root(other) for other in apart} | self.taken
        linked = self._linked(entity)
        if linked is not None and linked[0] not in refused:
            return [linked]
        judged = []
        for root, profile in self._candidates(keepers):
            judgement = judge(entity, profile)
            if judgement is not None and judgement.score >= MERGED_FROM:
                judged.append((root, judgement))
        allowed = [found for found in judged if found[0] not in refused]
        if len(allowed) > 1:  # of equal ones, what a user has taken out of another is the odd one
            allowed.sort(
                key=lambda found: (-found[1].score, self.things.is_taken_out(found[0]), found[0])
            )
        if any(judgement.by_name for _, judgement in allowed):
            return [found for found in allowed if found[1].by_name]
        # A surname and context that fit two people say nothing of which one is meant.
        return allowed if len(allowed) == 1 else []

    def _linked(self, entity: Profile) -> tuple[str, Judgement] | None:
        """The thing that a linker takes the entity for, if it is sure enough."""
        if entity.link is None or not self.things.stands(entity.link.entity):
            return None
        root, score = self._root(entity.link.entity), entity.link.score
        judgement = judge_link(entity, self.things.profile(root), score)
        return None if judgement is None or score < MERGED_FROM else (root, judgement)

    def _candidates(self, keepers: set[str]) -> Iterator[tuple[str, Profile]]:
        """The things behind the keepers of keys, each with what its keepers know together."""
        by_root: dict[str, list[Profile]] = {}
        for keeper in sorted(keepers):
            by_root.setdefault(self._root(keeper), []).append(self.things.profile(keeper))
        for root, found in by_root.items():
            yield root, _together(found)

    def _may_unite(self, left: str, right: str) -> bool:
        """Not against a user's word, and not if a document speaks of both as two things."""
        if left == right or any(
            {self._root(one), self._root(other)} == {left, right}
            for one, other in self.things.all_told_apart()
        ):
            return False
        return not self._documents(left) & self._documents(right)

    def _documents(self, root: str) -> Set[str]:
        """The documents that speak of the thing, or of one that has been put below it here."""
        below = (thing for thing in self.joined if self._root(thing) == root)
        return frozenset().union(*map(self.things.documents, (root, *below)))

    def _root(self, entity: str) -> str:
        if entity not in self.roots:
            self.roots[entity] = self.things.root(entity)
        root = self.roots[entity]
        while root in self.joined:
            root = self.joined[root]
        return root


def _together(found: list[Profile]) -> Profile:
    first = found[0]
    facts = first.facts.union(*(each.facts for each in found))
    believed = frozenset().union(*(each.facts - each.doubted for each in found))
    return replace(
        first,
        identifier=next((each.identifier for each in found if each.identifier), None),
        name_keys=first.name_keys.union(*(each.name_keys for each in found)),
        facts=facts,
        doubted=facts - believed,
    )


class KnownThings:
    """The things of documents in memory."""

    def __init__(self) -> None:
        self._merges: dict[str, Merge] = {}
        self._profiles: dict[str, Profile] = {}
        self._keepers: dict[str, list[str]] = {}
        self._members: dict[str, list[str]] = {}  # by root

    def add(self, entities: list[Profile]) -> None:
        """Take in the entities of one document."""
        placement = place(entities, self)
        for entity in entities:
            self._profiles[entity.iri] = entity
            self._members[entity.iri] = [entity.iri]
        for merge in placement.merges:
            self._merges[merge.entity] = merge
            self._members[merge.parent] += self._members.pop(merge.entity)
        for keeper, key in placement.keys:
            self._keepers.setdefault(key, []).append(keeper)

    def clusters(self) -> list[Cluster]:
        return [
            Cluster(root, tuple(members), tuple(self._merges[member] for member in members[1:]))
            for root, members in self._members.items()
        ]

    def keepers(self, key: str) -> Iterable[str]:
        return self._keepers.get(key, ())

    def stands(self, entity: str) -> bool:
        return entity in self._profiles

    def profile(self, entity: str) -> Profile:
        return self._profiles[entity]

    def root(self, entity: str) -> str:
        while entity in self._merges:
            entity = self._merges[entity].parent
        return entity

    def documents(self, root: str) -> Set[str]:
        return {self._profiles[member].document for member in self._members[root]}

    def told_apart(self, entity: str) -> Set[str]:  # noqa: ARG002  nobody is asked here
        return frozenset()

    def all_told_apart(self) -> Iterable[tuple[str, str]]:
        return ()

    def is_taken_out(self, entity: str) -> bool:  # noqa: ARG002
        return False


def merge_entities(
    documents: Iterable[Document], relation_names: Mapping[str, str] | None = None
) -> list[Cluster]:
    """The things that documents speak of; `identifiers.entity_iris` tells which entity is which.

    >>> from factloom.document import Entity, Mention
    >>> texts = {"a": "Ada Lovelace wrote.", "b": "Ada Lovelace read."}
    >>> person = {"mentions": (Mention(0, 12, "PER"),), "entities": (Entity((0,), "PER"),)}
    >>> [thing] = merge_entities(Document(text, key, **person) for key, text in texts.items())
    >>> thing.merges[0].reason
    'the same name "Ada Lovelace"'
    """
    things = KnownThings()
    for document in documents:
        things.add(profiles(document, relation_names or {}))
    return things.clusters()
