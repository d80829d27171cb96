"""Knowledge from RDF files: Turtle, N-Triples, N-Quads, TriG, RDF/XML, JSON-LD.

What has a label (rdfs:label, skos:prefLabel, schema:name) is an entity. Between two of them every
triple is a fact; other literals and nodes without labels are left out. Wikidata's entities and
properties are known by their numbers, all else by its IRI. owl:sameAs joins two entities into one,
so that a file that factloom has exported is read as the merged graph.
"""

import gzip
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, cast

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse

from factloom.errors import InputError, Place
from factloom.graph.identifiers import (
    RELATION,
    TYPE,
    WIKIDATA_ENTITY,
    WIKIDATA_PROPERTY,
    relation_of,
    type_of,
)
from factloom.graph.knowledge_base import KnownEntity, KnownFact
from factloom.graph.vocabulary import PREFIXES

_SCHEMA = ("http://schema.org/", "https://schema.org/")
_NAMES = {PREFIXES["rdfs"] + "label", PREFIXES["skos"] + "prefLabel"} | {
    s + "name" for s in _SCHEMA
}
_ALIASES = {PREFIXES["skos"] + "altLabel"} | {s + "alternateName" for s in _SCHEMA}
_DESCRIPTIONS = {PREFIXES["rdfs"] + "comment", PREFIXES["dcterms"] + "description"} | {
    s + "description" for s in _SCHEMA
}
_TYPE = PREFIXES["rdf"] + "type"
_SAME = PREFIXES["owl"] + "sameAs"
_OWN_CLASS = PREFIXES["fl"] + "Entity"  # of every entity of ours: it tells nothing


def read_rdf(path: Path, languages: tuple[str, ...]) -> Iterator[KnownEntity | KnownFact]:
    """The entities, then the facts; of texts in several languages these are taken, the first of
    them that there is for what is said once."""
    found = _Gathered(languages)
    found.read(path)
    yield from found.entities()
    yield from found.facts()


class _Gathered:
    """What a file says, which may speak of an entity in any order."""

    def __init__(self, languages: tuple[str, ...]) -> None:
        self.rank = {language: place for place, language in enumerate((*languages, ""))}
        self.names: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        self.aliases: defaultdict[str, list[str]] = defaultdict(list)
        self.descriptions: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        self.types: dict[str, str] = {}
        self.links: list[tuple[str, str, str]] = []
        self.parent: dict[str, str] = {}

    def read(self, path: Path) -> None:
        place = Place(file=str(path))
        suffix = Path(path.name.removesuffix(".gz")).suffix
        format = RdfFormat.from_extension(suffix.removeprefix("."))
        try:
            with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
                self._take(parse(cast(IO[bytes], stream), format))
        except (OSError, SyntaxError, ValueError) as error:
            raise InputError("knowledge-damaged", place, detail=error) from None

    def _take(self, quads: Iterable[Quad]) -> None:
        for quad in quads:
            subject, predicate, object = quad.subject, quad.predicate.value, quad.object
            if not isinstance(subject, NamedNode):
                continue
            if isinstance(object, Literal):
                self._say(subject.value, predicate, object.value, object.language or "")
            elif isinstance(object, NamedNode):
                self._link(subject.value, predicate, object.value)

    def _say(self, subject: str, predicate: str, text: str, language: str) -> None:
        rank = self.rank.get(language.partition("-")[0])
        if rank is None or not text.strip():
            return
        if predicate in _NAMES:
            self.names[subject].append((rank, text))
        elif predicate in _ALIASES:
            self.aliases[subject].append(text)
        elif predicate in _DESCRIPTIONS:
            self.descriptions[subject].append((rank, text))

    def _link(self, subject: str, predicate: str, object: str) -> None:
        if predicate == _SAME:
            self.parent[self._root(subject)] = self._root(object)
        elif predicate == _TYPE:
            if object != _OWN_CLASS:
                self.types.setdefault(subject, object)
        else:
            self.links.append((subject, predicate, object))

    def entities(self) -> Iterator[KnownEntity]:
        members: defaultdict[str, list[str]] = defaultdict(list)
        for node in self.names:
            members[self._root(node)].append(node)
        for root, nodes in members.items():
            ranked = sorted(pair for node in nodes for pair in self.names[node])
            counts = Counter(name for _, name in ranked)  # in the order of their ranks
            counts.update(dict.fromkeys((a for n in nodes for a in self.aliases[n]), 1))
            descriptions = sorted(pair for node in nodes for pair in self.descriptions[node])
            type = next((self.types[node] for node in nodes if node in self.types), "")
            description = descriptions[0][1] if descriptions else ""
            yield KnownEntity(_identifier(root), dict(counts), self._type_name(type), description)

    def facts(self) -> Iterator[KnownFact]:
        for subject, predicate, object in self.links:
            if subject in self.names and object in self.names:
                head, tail = (_identifier(self._root(node)) for node in (subject, object))
                yield KnownFact(head, _relation(predicate), tail)

    def _type_name(self, type: str) -> str:
        """The label of a class that the file describes, else the end of its IRI."""
        if type in self.names:
            return min(self.names[type])[1]
        return type_of(type) if type.startswith(TYPE) else _last_part(type)

    def _root(self, node: str) -> str:
        while node in self.parent and self.parent[node] != node:
            node = self.parent[node]
        return node


def _identifier(iri: str) -> str:
    return iri.removeprefix(WIKIDATA_ENTITY)


def _relation(iri: str) -> str:
    own = iri.startswith((WIKIDATA_PROPERTY, RELATION))
    return relation_of(iri) if own else _last_part(iri)


def _last_part(iri: str) -> str:
    return iri.rstrip("/#").replace("#", "/").rpartition("/")[2]
