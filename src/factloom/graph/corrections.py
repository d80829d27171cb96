"""What people have said about facts and things: a journal that outlives documents.

A correction says of a fact that it is not so (reject), that it is so (accept), or what is so in its
place (correct); of things, that several are one (merge), that one was taken for another (split),
what one is called (rename) and of which type it is (retype). `skip` keeps that somebody has looked
at a fact and did not know.

Documents come, change and go. So a correction does not name entities: it has keys, names that tell
which entities of which documents it is about, now and later. A name that two things had when the
correction was made counts in the documents of the one that was meant, and elsewhere not. What the
store holds is thus a function of its documents and of the corrections that stand, in their order:
of two that speak of one fact, the later has the last word.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

from pyoxigraph import Literal, NamedNode, Quad

from factloom.graph.changes import Changes, Readable, text_of
from factloom.graph.name_keys import name_key
from factloom.graph.profiles import Profile
from factloom.graph.vocabulary import CATALOGUE, CORRECTION_START, NUMBER, A, term

CORRECTIONS = NamedNode("urn:factloom:corrections")  # a graph

CORRECTION_CLASS = term("fl:Correction")
ACTION = term("fl:action")
WHO = term("dcterms:creator")
WHEN = term("dcterms:created")
WHY = term("fl:reason")
WORDS = term("dcterms:description")
ABOUT = term("fl:about")
UNDONE = term("fl:undone")
CONCERNS = term("fl:concerns")  # in the catalogue: the keys of corrections that stand
COUNT = term("fl:corrections")  # in the catalogue: how many there have been

_JOURNAL = NamedNode("urn:factloom:store")

OF_FACTS = ("reject", "accept", "correct", "skip")
OF_THINGS = ("merge", "split", "rename", "retype")


@dataclass(frozen=True, slots=True)
class Party:
    """A thing that a correction speaks of: what it was called, and the keys of its entities."""

    name: str
    keys: frozenset[str]

    def to_json(self) -> list[Any]:
        return [self.name, sorted(self.keys)]

    @classmethod
    def from_json(cls, data: list[Any]) -> Self:
        return cls(data[0], frozenset(data[1]))


@dataclass(frozen=True, slots=True)
class Target:
    """A fact that a correction speaks of."""

    head: Party
    relation: str
    tail: Party

    def to_json(self) -> list[Any]:
        return [self.head.to_json(), self.relation, self.tail.to_json()]

    @classmethod
    def from_json(cls, data: list[Any]) -> Self:
        return cls(Party.from_json(data[0]), data[1], Party.from_json(data[2]))

    def fits(self, head: frozenset[str], relation: str, tail: frozenset[str]) -> bool:
        """Whether a fact is this one, by the keys of its ends."""
        if relation != self.relation:
            return False
        return not self.head.keys.isdisjoint(head) and not self.tail.keys.isdisjoint(tail)


@dataclass(frozen=True, slots=True)
class Correction:
    """What somebody has said, when, and why."""

    number: int
    action: str
    who: str
    when: str
    why: str
    words: str  # what it is about, for people
    fact: Target | None = None
    instead: Target | None = None  # of a fact that is corrected
    things: tuple[Party, ...] = ()  # those of a merge, else one
    value: str = ""  # the new name or type
    undone: str = ""  # when it was undone

    @property
    def iri(self) -> str:
        return f"{CORRECTION_START}{self.number}"

    def index(self) -> Iterator[str]:
        """The texts by which it is found again."""
        for target in (self.fact, self.instead):
            if target is not None:
                yield from (fact_index(key, target.relation) for key in target.head.keys)
        for thing in self.things:
            yield from map(thing_index, thing.keys)

    def content(self) -> str:
        """Everything that decides about what it concerns."""
        fact, instead = (
            None if target is None else target.to_json() for target in (self.fact, self.instead)
        )
        things = [thing.to_json() for thing in self.things]
        return json.dumps([fact, instead, things, self.value], ensure_ascii=False)


def fact_index(head_key: str, relation: str) -> str:
    return f"fact {relation}\t{head_key}"


def thing_index(key: str) -> str:
    return f"thing {key}"


# --- keys ------------------------------------------------------------------------------------


def fact_keys(entity: Profile) -> frozenset[str]:
    """What an end of a fact is known by: its type does not count, which models often change."""
    return _keys(entity, "")


def thing_keys(entity: Profile) -> frozenset[str]:
    """What an entity is known by: Paris, the town, is another than Paris, the man."""
    return _keys(entity, entity.type.upper())


def make_key(name: str, type: str, document: str = "") -> str:
    """A name that counts everywhere, or in one document alone."""
    return f"{name}\t{type}\t{document}"


def read_key(key: str) -> tuple[str, str, str]:
    """The reverse of `make_key`: name, type, and document or nothing."""
    name, type, document = key.split("\t", 2)
    return name, type, document


def names_everywhere(entity: Profile) -> frozenset[str]:
    """The names that tell in every document what is meant; an identifier counts as one."""
    named = entity.telling_names()
    if entity.identifier is None:
        return named
    return named | {f"#{entity.type.upper()} {entity.identifier}"}


def names_here(entity: Profile) -> frozenset[str]:
    """The names that tell within the entity's own document what is meant."""
    return names_everywhere(entity) or entity.name_keys or frozenset({name_key(entity.label)})


def _keys(entity: Profile, type: str) -> frozenset[str]:
    everywhere = (make_key(name, type) for name in names_everywhere(entity))
    here = (make_key(name, type, entity.document) for name in names_here(entity))
    return frozenset((*everywhere, *here))


# --- the journal -----------------------------------------------------------------------------


class Journal:
    """The corrections of a store."""

    def __init__(self, source: Readable) -> None:
        self.source = source

    def count(self) -> int:
        """How many corrections there have been; the last one has this number."""
        found = next(iter(self.source.match(_JOURNAL, COUNT, None, CATALOGUE)), None)
        return 0 if found is None else int(text_of(found.object))

    def get(self, number: int) -> Correction | None:
        """The correction of a number."""
        node = NamedNode(f"{CORRECTION_START}{number}")
        about = self.source.match(node, None, None, CORRECTIONS)
        return _read({quad.predicate.value: text_of(quad.object) for quad in about})

    def all(self) -> Iterator[Correction]:
        """Every correction there has been, in order."""
        found = (self.get(number) for number in range(1, self.count() + 1))
        return (correction for correction in found if correction is not None)

    def about_fact(
        self, head: frozenset[str], relation: str, tail: frozenset[str]
    ) -> Iterator[Correction]:
        """The corrections that stand about a fact, by the keys of its ends, in order.

        All facts of its head are found by the index, so that no more is read of each than need be.
        """
        for number in self._numbers(fact_index(key, relation) for key in head):
            if any(target.fits(head, relation, tail) for target in self._targets(number)):
                found = self.get(number)
                if found is not None:
                    yield found

    def about_things(self, keys: Iterable[str]) -> list[Correction]:
        """The corrections that stand about a thing, in order."""
        found = map(self.get, self._numbers(map(thing_index, keys)))
        return [correction for correction in found if correction is not None]

    def _numbers(self, index: Iterable[str]) -> list[int]:
        """Those of the corrections that are found by one of some texts, rising."""
        nodes = {
            text_of(quad.subject)
            for text in index
            for quad in self.source.match(None, CONCERNS, Literal(text), CATALOGUE)
        }
        return sorted(int(node.removeprefix(CORRECTION_START)) for node in nodes)

    def _targets(self, number: int) -> Iterator[Target]:
        """The facts that a correction speaks of."""
        node = NamedNode(f"{CORRECTION_START}{number}")
        for quad in self.source.match(node, ABOUT, None, CORRECTIONS):
            content = _content(text_of(quad.object))
            yield from (each for each in (content.fact, content.instead) if each is not None)


def write_down(changes: Changes, correction: Correction) -> Correction:
    """Add a correction to the journal; it gets its number."""
    number = Journal(changes).count() + 1
    numbered = replace(correction, number=number)
    for quad in correction_quads(numbered):
        changes.add(quad)
    changes.remove(changes.match(_JOURNAL, COUNT, None, CATALOGUE))
    changes.add(count_quad(number))
    return numbered


def strike_out(changes: Changes, correction: Correction, when: str) -> None:
    """Let a correction stand no longer; the journal keeps it."""
    node = NamedNode(correction.iri)
    changes.add(Quad(node, UNDONE, Literal(when), CORRECTIONS))
    changes.remove(changes.match(node, CONCERNS, None, CATALOGUE))


def count_quad(number: int) -> Quad:
    return Quad(_JOURNAL, COUNT, Literal(str(number)), CATALOGUE)


def correction_quads(correction: Correction) -> Iterator[Quad]:
    """A correction as RDF, and in the catalogue what finds it."""
    node = NamedNode(correction.iri)
    texts = {
        ACTION: correction.action,
        WHO: correction.who,
        WHEN: correction.when,
        WHY: correction.why,
        WORDS: correction.words,
        ABOUT: correction.content(),
        UNDONE: correction.undone,
    }
    yield Quad(node, A, CORRECTION_CLASS, CORRECTIONS)
    yield Quad(node, NUMBER, Literal(correction.number), CORRECTIONS)
    for predicate, text in texts.items():
        if text:
            yield Quad(node, predicate, Literal(text), CORRECTIONS)
    if not correction.undone:
        for text in set(correction.index()):
            yield Quad(node, CONCERNS, Literal(text), CATALOGUE)


@dataclass(frozen=True, slots=True)
class _Content:
    """What `Correction.content` writes."""

    fact: Target | None
    instead: Target | None
    things: tuple[Party, ...]
    value: str


@lru_cache(maxsize=16384)
def _content(text: str) -> _Content:
    fact, instead, things, value = json.loads(text)
    return _Content(
        fact=None if fact is None else Target.from_json(fact),
        instead=None if instead is None else Target.from_json(instead),
        things=tuple(map(Party.from_json, things)),
        value=value,
    )


def _read(texts: Mapping[str, str]) -> Correction | None:
    if not {ABOUT.value, NUMBER.value, ACTION.value} <= texts.keys():
        return None  # there is none, or its table is damaged
    content = _content(texts[ABOUT.value])
    return Correction(
        number=int(texts[NUMBER.value]),
        action=texts[ACTION.value],
        who=texts.get(WHO.value, ""),
        when=texts.get(WHEN.value, ""),
        why=texts.get(WHY.value, ""),
        words=texts.get(WORDS.value, ""),
        fact=content.fact,
        instead=content.instead,
        things=content.things,
        value=content.value,
        undone=texts.get(UNDONE.value, ""),
    )
