"""The graph store as a knowledge base: what it says now, with nothing copied.

A thing is known by the identifier that a document gave one of its entities, such as a Wikidata
number, else by the IRI of the entity that stands for it. Its prior is the number of documents that
speak of it. A fact that is added to the store, or taken out, is there at the next question.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice

from pyoxigraph import Literal, NamedNode

from factloom.graph.changes import Changes, text_of
from factloom.graph.facts import Connection
from factloom.graph.identifiers import ENTITY, document_iri, document_of_entity, type_iri
from factloom.graph.knowledge_base import MOST_CANDIDATES, Candidate, KnownEntity, KnownFact
from factloom.graph.lookup import Lookup
from factloom.graph.profiles import Profile, plain_key, telling_key
from factloom.graph.store import Store
from factloom.graph.stored_things import KEY, StoredThings
from factloom.graph.vocabulary import CATALOGUE, IDENTIFIER, LABEL, OTHER_NAME, A
from factloom.knowledge.keys import asked_by, keys_of

_DESCRIBED_BY = 8  # facts


class StoredKnowledge:
    """A `KnowledgeBase` over an open store.

    Initials are no keys of a store: all names are gone through when they are asked for first.
    `doubt` counts as so many documents that used each name for something the store does not know.
    Without descriptions nothing but names and types is read of an entity.
    """

    def __init__(self, store: Store, *, doubt: float = 0.0, described: bool = True) -> None:
        self.store = store
        self.doubt = doubt
        self.described = described
        self._initials: dict[str, set[str]] | None = None  # entities that keep a name with these

    def __len__(self) -> int:
        return sum(1 for _ in self.store.things())

    def ids(self) -> Iterator[str]:
        return (self.id_of(thing.iri) for thing in self.store.things())

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._root(id) is not None

    def entity(self, id: str) -> KnownEntity:
        root = self._root(id)
        if root is None:
            raise KeyError(id)
        names = Counter(self._names(root, LABEL))
        aliases = dict.fromkeys(self._names(root, OTHER_NAME), 1)
        ranked = {**aliases, **dict(names.most_common())}
        main, *_ = names.most_common(1)[0]
        ordered = {main: ranked.pop(main), **ranked}
        description = self._description(root) if self.described else ""
        return KnownEntity(id, ordered, self._lookup().thing(root).type, description)

    def id_of(self, root: str) -> str:
        """An identifier that somebody has given, unless it leads to another thing."""
        given = self._texts(self._things.members(root), IDENTIFIER)
        return next((found for found in given if self._root(found) == root), root)

    def profile(self, id: str) -> Profile:
        """What merging knows of the entity that stands for a thing."""
        return self._things.profile(self._root(id) or id)

    def has_type(self, type: str) -> bool:
        node = NamedNode(type_iri(type))
        return any(True for _ in self.store.disk.quads_for_pattern(None, A, node, None))

    def candidates(self, name: str, most: int = MOST_CANDIDATES) -> list[Candidate]:
        things = self._things
        for way, keys in asked_by(name):
            keepers = {keeper for key in keys for keeper in self._keepers(key)}
            counts = Counter(
                {root: len(things.members(root)) for root in sorted(map(things.root, keepers))}
            )
            if counts:
                total = counts.total() + self.doubt
                return [
                    Candidate(self.id_of(root), count / total, way)
                    for root, count in counts.most_common(most)
                ]
        return []

    def facts(self, id: str) -> dict[str, tuple[str, ...]]:
        root = self._root(id)
        if root is None:
            return {}
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for fact in self._connections(root):
            if fact.head.iri == root:
                found[fact.relation][self.id_of(fact.tail.iri)] = None
        return {relation: tuple(objects) for relation, objects in found.items()}

    def certainties(self) -> dict[KnownFact, float]:
        """All facts with their scores; what people have annotated or accepted is certain."""
        return {
            KnownFact(id, fact.relation, self.id_of(fact.tail.iri)): fact.certainty
            for thing in self.store.things()
            for id in [self.id_of(thing.iri)]
            for fact in self._connections(thing.iri)
            if fact.head.iri == thing.iri
        }

    def rejected(self) -> set[KnownFact]:
        """The facts that people have rejected, by the identifiers of their ends."""
        lookup = self._lookup()
        return {
            KnownFact(self.id_of(thing.iri), fact.relation, self.id_of(fact.tail.iri))
            for thing in self.store.things()
            for fact in lookup.neighbours(thing, rejected=True)
            if fact.decision == "rejected" and fact.head.iri == thing.iri
        }

    # --- inside --------------------------------------------------------------------------------

    @cached_property
    def _things(self) -> StoredThings:
        """Nothing is gathered in its changes, so it is the store as it is at every moment."""
        return StoredThings(Changes(self.store.disk))

    def _lookup(self) -> Lookup:
        return Lookup(self._things, self.store.place)

    def _root(self, id: str) -> str | None:
        things = self._things
        if id.startswith(ENTITY):
            return things.root(id) if things.has(id) else None
        try:
            quads = self.store.disk.quads_for_pattern(None, IDENTIFIER, Literal(id), None)
        except ValueError:  # half of a surrogate pair
            return None
        subjects = sorted(text_of(quad.subject) for quad in quads)
        return next((things.root(s) for s in subjects if s.startswith(ENTITY)), None)

    def _keepers(self, key: str) -> Iterable[str]:
        kind, name = key[0], key[1:]
        if kind == "^":
            return self._with_initials(name)
        things = self._things
        return {
            k for stored in (telling_key(name), plain_key(name)) for k in things.keepers(stored)
        }

    def _with_initials(self, letters: str) -> set[str]:
        if self._initials is None:
            self._initials = {}
            for quad in self.store.disk.quads_for_pattern(None, KEY, None, CATALOGUE):
                stored = text_of(quad.object)
                for key in keys_of(stored[1:]) if stored[0] in "=~" else ():
                    if key[0] == "^":
                        self._initials.setdefault(key[1:], set()).add(text_of(quad.subject))
        things = self._things
        return {entity for entity in self._initials.get(letters, ()) if things.has(entity)}

    def _names(self, root: str, role: NamedNode) -> Iterator[str]:
        return self._texts(self._things.members(root), role)

    def _texts(self, entities: Iterable[str], role: NamedNode) -> Iterator[str]:
        for entity in entities:
            graph = NamedNode(document_iri(document_of_entity(entity)))
            for quad in self.store.disk.quads_for_pattern(NamedNode(entity), role, None, graph):
                yield text_of(quad.object)

    def _connections(self, root: str) -> list[Connection]:
        lookup = self._lookup()
        return lookup.neighbours(lookup.thing(root))

    def _description(self, root: str) -> str:
        """Its surest facts in words."""
        words = self.store.relation_names()
        facts = islice(self._connections(root), _DESCRIBED_BY)
        return ". ".join(
            f"{fact.head.name} {words.get(fact.relation, fact.relation)} {fact.tail.name}"
            for fact in facts
        )
