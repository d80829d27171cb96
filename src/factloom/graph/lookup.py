"""Lookup without SPARQL: which thing has this name, what is around it, how two connect."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice, pairwise

from pyoxigraph import NamedNode

from factloom.document import Document
from factloom.errors import InputError, Place
from factloom.graph.changes import text_of
from factloom.graph.facts import Connection, Evidence, Thing
from factloom.graph.identifiers import (
    ENTITY,
    TYPE,
    document_iri,
    document_of_entity,
    entity_iris,
    relation_iri,
    relation_of,
    type_of,
)
from factloom.graph.looking_ahead import ahead_of_naming, before_showing
from factloom.graph.name_keys import name_key, person_key, value_key
from factloom.graph.profiles import Profile, plain_key, telling_key
from factloom.graph.stored_facts import StoredFacts
from factloom.graph.stored_things import KEY, StoredThings
from factloom.graph.vocabulary import (
    CATALOGUE,
    LABEL,
    OTHER_NAME,
    RELATION_NAMES,
    A,
)
from factloom.text.relation_names import RELATION_NAMES as WIKIDATA_NAMES

_SHOWN = 5  # things or names that an error lists
_KEYS_LOOKED_AT = 20_000  # for a suggestion
_FACTS_LOOKED_AT = 20  # for one that only one of two things has


class Lookup:
    """Finds things by their names, and the facts around them."""

    def __init__(self, things: StoredThings, place: Place) -> None:
        self.things = things
        self.facts = StoredFacts(things.changes)
        self.place = place

    def find(self, name: str, type: str | None = None) -> Thing:
        """The one thing of this name, whatever its case; an IRI is taken as it is."""
        found = self.called(name, type)
        if not found:
            quads = islice(self.things.changes.match(None, KEY, None, CATALOGUE), _KEYS_LOOKED_AT)
            keys = ((text_of(quad.object), text_of(quad.subject)) for quad in quads)
            known = {key[1:]: entity for key, entity in keys if key[0] in "=~"}
            raise self._unknown(name, known, self.place)
        if len(found) > 1:
            members = {thing: self.things.members(thing.iri) for thing in found[:_SHOWN]}
            raise self._ambiguous(name, found, members, self.place)
        return found[0]

    def entity_of_document(self, name: str, document: str, type: str | None = None) -> str:
        """The IRI of the entity that is called `name` in a document."""
        entities = [self.things.profile(entity) for entity in self.things.entities_of(document)]
        place = Place(file=self.place.file, document=document)
        called = (entity for entity in entities if _is_called(entity, name))
        found = [entity for entity in called if _is_of(entity.type, type)]
        if not found:
            keys = {key: each.iri for each in entities for key in _keys_of(each)}
            raise self._unknown(name, keys, place)
        if len(found) > 1:
            things = [Thing(each.iri, each.label, each.type) for each in found]
            raise self._ambiguous(name, things, {each: [each.iri] for each in things}, place)
        return found[0].iri

    def neighbours(
        self,
        thing: Thing,
        relation: str | None = None,
        minimum_score: float = 0.0,
        *,
        rejected: bool = False,
    ) -> list[Connection]:
        """The facts about a thing, the surest first; those of a relation, by its id or its name.

        A fact that people have annotated has no score, and is sure; those that they have rejected
        are shown if that is wanted.
        """
        wanted = None if relation is None else self.relations_called(relation)
        gathered: dict[tuple[str, str, str], list[Evidence]] = {}
        members = self.things.members(thing.iri)
        before_showing(self.things.changes, members)
        for statement in self.facts.around(members, rejected=rejected):
            head, stated, tail, evidence = self._read(statement)
            if wanted is None or stated in wanted:
                gathered.setdefault((head, stated, tail), []).append(evidence)
        return self._connections(gathered, minimum_score)

    def facts_of(self, relation: str) -> list[Connection]:
        """All facts of a relation, by its id, the surest first."""
        gathered: dict[tuple[str, str, str], list[Evidence]] = {}
        for statement in self.facts.of_relation(relation):
            head, stated, tail, evidence = self._read(statement)
            gathered.setdefault((head, stated, tail), []).append(evidence)
        return self._connections(gathered)

    def statements(self, document: str | None = None, *, rejected: bool = False) -> Iterator[str]:
        """The addresses of all facts as documents state them, or of those that one document states.

        Those that people have rejected are there if that is wanted.
        """
        return self.facts.all(document, rejected=rejected)

    def things_of(self, document: Document) -> Iterator[Thing]:
        """What each entity of a document that the store has stands for, in their order."""
        return (self.thing(self.things.root(iri)) for iri in entity_iris(document))

    def _connections(
        self, gathered: Mapping[tuple[str, str, str], Sequence[Evidence]], least: float = 0.0
    ) -> list[Connection]:
        """Facts of which the evidence is gathered, the surest first."""
        connections = (
            Connection(self.thing(head), stated, self.thing(tail), tuple(evidence))
            for (head, stated, tail), evidence in gathered.items()
        )
        found = (each for each in connections if each.certainty >= least)
        return sorted(found, key=_surest_first)

    def all_things(self, type: str | None = None, part: str = "") -> Iterator[Thing]:
        """The things of a type, with a name that has this part, whatever its case."""
        roots = set()
        for entity in ahead_of_naming(self.things.changes, self._entities_named(part)):
            root = self.things.root(entity)
            if root not in roots:
                roots.add(root)
                thing = self.thing(root)
                if _is_of(thing.type, type):
                    yield thing

    def _entities_named(self, part: str) -> Iterator[str]:
        wanted = part.casefold()
        for role in (LABEL, OTHER_NAME):
            for quad in self.things.changes.disk.quads_for_pattern(None, role, None, None):
                is_entity = quad.graph_name != RELATION_NAMES
                if is_entity and wanted in text_of(quad.object).casefold():
                    yield text_of(quad.subject)

    def relations_called(self, name: str) -> set[str]:
        """The relations that have this name or id, whatever its case."""
        wanted = name.casefold()
        quads = list(self.things.changes.match(None, LABEL, None, RELATION_NAMES))
        names = [(relation_of(text_of(quad.subject)), text_of(quad.object)) for quad in quads]
        found = {
            relation
            for relation, words in names
            if wanted in (words.casefold(), relation.casefold())
        }
        if not found:
            known = ", ".join(
                sorted(
                    words if words == relation else f"{words} ({relation})"
                    for relation, words in names
                )
            )
            raise InputError("no-such-relation", self.place, name=name, known=known or "none")
        return found

    def path(self, start: Thing, goal: Thing, longest: int) -> list[Connection]:
        """A shortest chain of facts between two things, whatever their direction; else nothing.

        Values are not passed through: two people born in 1931 have nothing to do with each other.
        """
        came_from: dict[str, str | None] = {start.iri: None}
        reached = [start.iri]
        for _ in range(longest):
            reached = [other for thing in reached for other in self._step(thing, came_from)]
            if goal.iri in came_from or not reached:
                break
        if goal.iri not in came_from or start == goal:
            return []
        chain = [goal.iri]
        while (before := came_from[chain[-1]]) is not None:
            chain.append(before)
        chain.reverse()
        return [self._between(one, other) for one, other in pairwise(chain)]

    def thing(self, root: str) -> Thing:
        """A thing by the name and type of the entity that stands for it, as people left them."""
        profile = self.things.profile(root)
        node, graph = NamedNode(root), NamedNode(document_iri(profile.document))
        labels = self.things.changes.match(node, LABEL, None, graph)
        types = (text_of(quad.object) for quad in self.things.changes.match(node, A, None, graph))
        name = next((text_of(quad.object) for quad in labels), profile.label)
        type = next((type_of(iri) for iri in types if iri.startswith(TYPE)), profile.type)
        return Thing(root, name, type)

    def called(self, name: str, type: str | None = None) -> list[Thing]:
        """All things that have this name, whatever its case; an IRI is taken as it is."""
        if name.startswith(ENTITY) and self.things.has(name):
            return [self.thing(self.things.root(name))]
        keys = {
            plain_key(name_key(name)),
            telling_key(name_key(name)),
            telling_key(person_key(name)),
        }
        value = value_key(name)
        if value is not None:
            keys.add(telling_key(value))
        roots = {self.things.root(entity) for key in keys for entity in self.things.keepers(key)}
        things = (self.thing(root) for root in sorted(roots))
        return [thing for thing in things if _is_of(thing.type, type)]

    def _unknown(self, name: str, known: Mapping[str, str], place: Place) -> InputError:
        """An error with names that are similar; `known` has an entity for each name's key."""
        keys = _similar(name_key(name), known)[: 4 * _SHOWN]  # several may be of one name
        names = dict.fromkeys(self._as_written(known[key], key) for key in keys)
        close = ", ".join(f'"{other}"' for other in islice(names, _SHOWN))
        return InputError("unknown-name", place, name=name, close=close or "none")

    def _as_written(self, entity: str, key: str) -> str:
        """The name of the entity that has this key; its label where none has, as for a date."""
        graph = NamedNode(document_iri(document_of_entity(entity)))
        for role in (LABEL, OTHER_NAME):
            for quad in self.things.changes.match(NamedNode(entity), role, None, graph):
                name = text_of(quad.object)
                if key in (name_key(name), person_key(name)):
                    return name
        return self.things.profile(entity).label

    def _ambiguous(
        self,
        name: str,
        found: Sequence[Thing],
        members: Mapping[Thing, Sequence[str]],
        place: Place,
    ) -> InputError:
        """An error with what tells the things apart; `members` are the entities of some of them."""
        facts = {thing: self._first_facts(members[thing]) for thing in members}
        shown = []
        for thing in members:
            others = {fact for other in members if other != thing for fact in facts[other]}
            own = [fact for fact in facts[thing] if fact not in others] or facts[thing]
            said = f" ({own[0]})" if own else ""
            shown.append(f"{thing} of {_documents_of(members[thing])}{said} {thing.iri}")
        several_types = len({thing.type.upper() for thing in found}) > 1
        code = "ambiguous-name" if several_types else "ambiguous-name-of-one-type"
        return InputError(code, place, name=name, count=len(found), things="; ".join(shown))

    def _first_facts(self, members: Iterable[str]) -> list[str]:
        """Some facts about entities, in words."""
        facts = []
        for statement in islice(self.facts.around(members), _FACTS_LOOKED_AT):
            head, relation, tail, _ = self._read(statement)
            words = self.in_words(relation)
            facts.append(f"{self.thing(head).name} {words} {self.thing(tail).name}")
        return facts

    def in_words(self, relation: str) -> str:
        """What a relation is called; one that is new here has Wikidata's name, or its id."""
        node = NamedNode(relation_iri(relation))
        found = next(self.things.changes.match(node, LABEL, None, RELATION_NAMES), None)
        return WIKIDATA_NAMES.get(relation, relation) if found is None else text_of(found.object)

    def read_statement(self, statement: str) -> Connection | None:
        """A fact as one document states it, by the statement's IRI."""
        try:
            head, relation, tail, evidence = self._read(statement)
        except (KeyError, ValueError):  # no such statement; what a user has written is no IRI
            return None
        return Connection(self.thing(head), relation, self.thing(tail), (evidence,))

    def _read(self, statement: str) -> tuple[str, str, str, Evidence]:
        head, relation, tail, evidence = self.facts.read(statement)
        return self.things.root(head), relation, self.things.root(tail), evidence

    def _step(self, thing: str, came_from: dict[str, str | None]) -> list[str]:
        """The things around one that were not reached before."""
        if self.things.profile(thing).is_value and came_from[thing] is not None:
            return []
        found = []
        for other in self._around(thing):
            if other not in came_from:
                came_from[other] = thing
                found.append(other)
        return found

    def _around(self, root: str) -> Iterator[str]:
        for member in self.things.members(root):
            for fact in self.facts.at(member):
                head, _, tail = map(text_of, fact)
                yield self.things.root(tail if head == member else head)

    def _between(self, one: str, other: str) -> Connection:
        both = {one, other}
        around = self.neighbours(self.thing(one))
        return next(each for each in around if {each.head.iri, each.tail.iri} == both)


def _similar(wanted: str, known: Iterable[str]) -> list[str]:
    """The keys of names that share a word with the wanted one, or are spelled much like it."""
    keys = sorted(known)
    partly = [key for key in keys if set(wanted.split()) & set(key.split())]
    return list(dict.fromkeys(partly + get_close_matches(wanted, keys, _SHOWN)))


def _keys_of(entity: Profile) -> frozenset[str]:
    return entity.name_keys | {name_key(entity.label)}


def _documents_of(members: Sequence[str]) -> str:
    first, *others = dict.fromkeys(map(document_of_entity, members))
    return f"{first} and {len(others)} more" if others else first


def _is_of(type: str, wanted: str | None) -> bool:
    return wanted is None or type.upper() == wanted.upper()


def _is_called(entity: Profile, name: str) -> bool:
    names = {entity.label.casefold(), *entity.name_keys}
    return bool({name.casefold(), name_key(name), person_key(name)} & names) or entity.iri == name


def _surest_first(connection: Connection) -> tuple[float, str, str]:
    return -connection.certainty, connection.relation, connection.tail.name
