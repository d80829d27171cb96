"""The things of a store, on disk: which entities are one, why, and what a user has undone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import islice

from pyoxigraph import Literal, NamedNode, Quad

from factloom.graph.changes import Changes, text_of
from factloom.graph.decisions import Decisions
from factloom.graph.identifiers import document_iri, document_of_entity
from factloom.graph.merging import Merge, Placement, place
from factloom.graph.profiles import Profile
from factloom.graph.vocabulary import (
    CATALOGUE,
    LABEL,
    OBJECT,
    PREDICATE,
    SCORE,
    STATEMENT,
    SUBJECT,
    A,
    term,
)

MERGES = NamedNode("urn:factloom:merges")  # a graph of files: which entities are one

# An entity is merged with one older entity at most: score and reason are said of the entity.
SAME_AS = term("owl:sameAs")
MERGE_SCORE = term("fl:mergeScore")
MERGE_REASON = term("fl:mergeReason")
REASON = term("fl:reason")
SHOWN_BY = term("fl:shownBy")
_ROLES = (SAME_AS, MERGE_SCORE, MERGE_REASON, SHOWN_BY)
KEY = term("fl:key")
PROFILE = term("fl:profile")

_AT_A_TIME = 200  # merges


class StoredThings:
    """The `Things` of a store as they are behind some changes that are being gathered."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes
        self.decisions = Decisions(changes)
        self.touched: set[str] = set()  # entities that were placed anew, for `uniting.settle`
        self._waiting: set[str] = set()  # entities of a thing that is just being judged anew

    # --- what merging asks -------------------------------------------------------------------

    def keepers(self, key: str) -> Iterator[str]:
        try:
            literal = Literal(key)
        except ValueError:  # half of a surrogate pair, as an argument may hold: no name is so
            return
        for quad in self.changes.match(None, KEY, literal, CATALOGUE):
            yield text_of(quad.subject)

    def profile(self, entity: str) -> Profile:
        [quad] = self.changes.match(NamedNode(entity), PROFILE, None, CATALOGUE)
        return _profile(text_of(quad.object))

    def stands(self, entity: str) -> bool:
        return entity not in self._waiting and self.has(entity)

    def root(self, entity: str) -> str:
        while parent := next(self.changes.match(NamedNode(entity), SAME_AS, None, CATALOGUE), None):
            entity = text_of(parent.object)
        return entity

    def documents(self, root: str) -> Set[str]:
        return {document_of_entity(member) for member in self.members(root)}

    def told_apart(self, entity: str) -> Set[str]:
        return self.decisions.told_apart(entity)

    def all_told_apart(self) -> Iterator[tuple[str, str]]:
        return self.decisions.all_told_apart()

    def is_taken_out(self, entity: str) -> bool:
        return self.decisions.is_taken_out(entity)

    # --- what the store does -----------------------------------------------------------------

    def members(self, root: str) -> list[str]:
        """All entities of a thing, each behind the one that it was merged with."""
        found = level = [root]
        while level:
            self.changes.read_ahead((None, SAME_AS, NamedNode(each), CATALOGUE) for each in level)
            level = [entity for each in level for entity in self._below(each)]
            found = [*found, *level]
        return found

    def _below(self, entity: str) -> list[str]:
        below = self.changes.match(None, SAME_AS, NamedNode(entity), CATALOGUE)
        return sorted(text_of(quad.subject) for quad in below)

    def entities_of(self, document: str) -> set[str]:
        """The entities of a document."""
        graph = NamedNode(document_iri(document))
        quads = self.changes.match(None, LABEL, None, graph)
        return {text_of(quad.subject) for quad in quads}

    def has(self, entity: str) -> bool:
        try:
            node = NamedNode(entity)
        except ValueError:  # what a user has written is no IRI
            return False
        return any(self.changes.match(node, PROFILE, None, CATALOGUE))

    def exchange(
        self, document: str, old: Sequence[str], new: Iterable[Profile]
    ) -> tuple[Merge, ...]:
        """Take in the entities of a document in place of those that it had before.

        Entities that are called as before stay in their things: else a new model that reads all
        documents again would tear up and rebuild the largest things a document.
        """
        coming = {profile.iri: profile for profile in new}
        staying = {entity for entity in old if entity in coming and self._stays(coming[entity])}
        self.remove(entity for entity in old if entity not in staying)
        for entity in staying:
            known = self.changes.match(NamedNode(entity), PROFILE, None, CATALOGUE)
            self.changes.remove(known)
            self._know(coming.pop(entity))
        self.decisions.pass_on(document, coming.keys() | staying, list(coming.values()))
        taken = {self.root(entity) for entity in staying}
        placement = place(coming.values(), self, taken)
        for profile in coming.values():
            self._know(profile)
        self._add(placement)
        self.touched |= coming.keys() | staying
        return placement.merges

    def _know(self, profile: Profile) -> None:
        content = Literal(profile.to_json())
        self.changes.add(Quad(NamedNode(profile.iri), PROFILE, content, CATALOGUE))

    def _stays(self, profile: Profile) -> bool:
        return self.profile(profile.iri).resembles(profile)

    def remove(self, entities: Iterable[str]) -> None:
        """Forget entities; what was merged because of them is judged anew without them."""
        for entity in entities:
            if self._others_rest_on(entity):
                self.judge_anew(self.root(entity), without=entity)
            else:
                self.unmerge(entity)
            self.changes.remove(self.changes.match(NamedNode(entity), None, None, CATALOGUE))

    def split(self, entity: str, said: str) -> None:
        """Take an entity out of its thing for good, as a correction says."""
        others = map(self.profile, self.beside(entity))
        self.decisions.tell_apart(self.profile(entity), others, said)
        self.judge_anew(self.root(entity))

    def take_back_split(self, said: str) -> None:
        """Judge what a correction has taken out of things by its evidence, where it is there."""
        for entity in sorted(self.decisions.take_back_split(said)):
            if self.has(entity):
                self.judge_anew(self.root(entity))

    def join(self, entity: str) -> None:
        """Take a split back: judge what was taken out by its evidence, if it is there."""
        self.decisions.take_back(entity)
        if self.has(entity):
            self.judge_anew(self.root(entity))

    def beside(self, entity: str) -> list[str]:
        """The other entities of its thing."""
        return [member for member in self.members(self.root(entity)) if member != entity]

    def taken_out(self, entity: str) -> Set[str]:
        """The entities whose splits keep something apart from the thing of this one."""
        return self.decisions.taken_out_of(self.members(self.root(entity)))

    def merge(self, merge: Merge) -> None:
        """Put a thing below another."""
        for quad in stored_merge(merge):
            self.changes.add(quad)

    def keep(self, keeper: str, key: str) -> None:
        """Let an entity be found by a key."""
        self.changes.add(Quad(NamedNode(keeper), KEY, Literal(key), CATALOGUE))

    def merge_of(self, entity: str) -> Merge | None:
        """Why an entity stands below another one; None if it does not."""
        return next(read_merges(self.changes, [entity]), None)

    def _add(self, placement: Placement) -> None:
        for merge in placement.merges:
            self.merge(merge)
        for keeper, key in placement.keys:
            self.keep(keeper, key)

    def _others_rest_on(self, entity: str) -> bool:
        node = NamedNode(entity)
        shown = self.changes.match(None, SHOWN_BY, node, CATALOGUE)
        return (
            any(self.changes.match(node, KEY, None, CATALOGUE))
            or any(self.changes.match(None, SAME_AS, node, CATALOGUE))
            or any(shown)
        )

    def judge_anew(self, root: str, without: str | None = None) -> None:
        """Take a thing apart, and put its entities together again by their evidence."""
        members = self.members(root)
        self.touched |= set(members)
        if without is not None:
            rest = [self.profile(member) for member in members if member != without]
            self.decisions.hand_down(without, rest)
        for member in members:
            self.unmerge(member)
            self.changes.remove(self.changes.match(NamedNode(member), KEY, None, CATALOGUE))
        self._waiting = set(members)  # no link leads to what may stand elsewhere, or goes
        for member in members:
            if member != without:
                profile = self.profile(member)
                beside = self.entities_of(profile.document) - {member, without}
                self._add(place([profile], self, taken={self.root(other) for other in beside}))
                self._waiting.discard(member)
        self._waiting = set()

    def unmerge(self, entity: str) -> None:
        """Let an entity stand below no other."""
        for role in _ROLES:
            self.changes.remove(self.changes.match(NamedNode(entity), role, None, CATALOGUE))


def read_merges(changes: Changes, entities: Iterable[str] | None = None) -> Iterator[Merge]:
    """The merges of some entities, or all that there are."""
    if entities is None:
        quads = changes.match(None, SAME_AS, None, CATALOGUE)
        entities = (text_of(quad.subject) for quad in quads)
    coming = iter(entities)
    while some := list(islice(coming, _AT_A_TIME)):
        changes.read_ahead((NamedNode(entity), None, None, CATALOGUE) for entity in some)
        yield from (merge for entity in some if (merge := _read_merge(changes, entity)))


def _read_merge(changes: Changes, entity: str) -> Merge | None:
    about = {
        quad.predicate: text_of(quad.object)
        for quad in changes.match(NamedNode(entity), None, None, CATALOGUE)
    }
    if SAME_AS not in about:
        return None
    parent, score, reason = about[SAME_AS], float(about[MERGE_SCORE]), about[MERGE_REASON]
    return Merge(entity, parent, score, reason, about.get(SHOWN_BY, entity))


def stored_merge(merge: Merge) -> Iterator[Quad]:
    entity = NamedNode(merge.entity)
    yield Quad(entity, SAME_AS, NamedNode(merge.parent), CATALOGUE)
    yield Quad(entity, MERGE_SCORE, Literal(float(merge.score)), CATALOGUE)
    yield Quad(entity, MERGE_REASON, Literal(merge.reason), CATALOGUE)
    if merge.shown_by != merge.entity:  # most show it themselves
        yield Quad(entity, SHOWN_BY, NamedNode(merge.shown_by), CATALOGUE)


def merge_quads(merge: Merge) -> Iterator[Quad]:
    """A merge in a file: the triple, and beside it a statement of the same kind as for facts."""
    entity, parent = NamedNode(merge.entity), NamedNode(merge.parent)
    node = NamedNode(f"{merge.entity}#merge")
    about: Mapping[NamedNode, NamedNode | Literal] = {
        A: STATEMENT,
        SUBJECT: entity,
        PREDICATE: SAME_AS,
        OBJECT: parent,
        SCORE: Literal(float(merge.score)),
        REASON: Literal(merge.reason),
        SHOWN_BY: NamedNode(merge.shown_by),
    }
    yield Quad(entity, SAME_AS, parent, MERGES)
    for predicate, object in about.items():
        yield Quad(node, predicate, object, MERGES)


@lru_cache(maxsize=16384)
def _profile(text: str) -> Profile:
    return Profile.from_json(text)
