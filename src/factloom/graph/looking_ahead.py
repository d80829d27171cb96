"""What will be asked of the database soon, told to it beforehand.

A database on the disk is asked for one thing after the other. One that is far away wants to be
asked for many at once: nothing depends on what stands here but the number of ways to it. Where it
is near, nothing is done.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice

from pyoxigraph import Literal, NamedNode, Quad, Triple

from factloom.document import Document
from factloom.graph.changes import Changes, text_of
from factloom.graph.corrections import (
    CONCERNS,
    Journal,
    fact_index,
    fact_keys,
    thing_index,
    thing_keys,
)
from factloom.graph.database import Pattern
from factloom.graph.decisions import DECISIONS, DIFFERENT_FROM
from factloom.graph.identifiers import (
    ENTITY,
    document_iri,
    document_key,
    document_of_entity,
    relation_iri,
)
from factloom.graph.profiles import Profile
from factloom.graph.stored_things import KEY, PROFILE, SAME_AS
from factloom.graph.vocabulary import (
    CATALOGUE,
    EVIDENCE,
    LABEL,
    REIFIES,
    REJECTED_OBJECT,
    REJECTED_SUBJECT,
    RELATION_NAMES,
    TEXT,
    A,
)

_AT_A_TIME = 200  # entities


def before_renaming(changes: Changes, document: Document) -> None:
    """A document comes, whose relations have names."""
    if not changes.disk.is_far:
        return
    relations = {relation.type for relation in document.relations}
    nodes = (NamedNode(relation_iri(relation)) for relation in relations)
    changes.read_ahead((node, LABEL, None, RELATION_NAMES) for node in nodes)


def before_merging(changes: Changes, document: Document, coming: Sequence[Profile]) -> None:
    """The entities of a document come, and are compared with those that share a key with them."""
    if not changes.disk.is_far:
        return
    keys = {key for entity in coming for key in (*entity.comparison_keys(), *entity.search_keys())}
    kept: list[Pattern] = [(None, KEY, Literal(key), CATALOGUE) for key in sorted(keys)]
    node = NamedNode(document_iri(document_key(document)))
    said = _corrections(document, coming) if Journal(changes).count() else ()
    apart = ((None, DIFFERENT_FROM, NamedNode(entity.iri), DECISIONS) for entity in coming)
    changes.read_ahead([(node, None, None, CATALOGUE), *kept, *said, *apart])
    keepers = {text_of(quad.subject) for quad in _found(changes, kept)}
    _climb(changes, {entity.iri for entity in coming} | keepers)


def before_showing(changes: Changes, members: Iterable[str]) -> None:
    """The facts of entities are read, with their evidence and the things at their other ends."""
    if not changes.disk.is_far:
        return
    around: list[Pattern] = []
    about: list[Pattern] = []
    for entity in members:
        node, graph = NamedNode(entity), NamedNode(document_iri(document_of_entity(entity)))
        around += [(node, None, None, graph), (None, None, node, graph)]
        about += [(None, role, node, CATALOGUE) for role in (REJECTED_SUBJECT, REJECTED_OBJECT)]
    changes.read_ahead([*around, *about])
    about += ((None, REIFIES, quad.triple, CATALOGUE) for quad in _found(changes, around))
    changes.read_ahead(about)
    said: list[Pattern] = [
        (quad.subject, None, None, CATALOGUE)
        for quad in _found(changes, about)
        if isinstance(quad.subject, NamedNode)
    ]
    changes.read_ahead(said)
    ends: set[str] = set()
    sentences: list[Pattern] = []
    for quad in _found(changes, said):
        if quad.predicate == EVIDENCE and isinstance(quad.object, NamedNode):
            sentences.append((quad.object, TEXT, None, CATALOGUE))
        for end in quad.object if isinstance(quad.object, Triple) else (quad.object,):
            if isinstance(end, NamedNode) and end.value.startswith(ENTITY):
                ends.add(end.value)
    changes.read_ahead(sentences)
    _name(changes, ends)


def ahead_of_naming(changes: Changes, entities: Iterable[str]) -> Iterator[str]:
    """The entities as they come, some at a time, each with what its thing is called at hand."""
    if not changes.disk.is_far:
        yield from entities
        return
    coming = iter(entities)
    while some := list(islice(coming, _AT_A_TIME)):
        _name(changes, set(some))
        yield from some


def _name(changes: Changes, entities: Set[str]) -> None:
    """The things of entities are called by their names."""
    asked: list[Pattern] = []
    for root in sorted(_climb(changes, entities)):
        node, graph = NamedNode(root), NamedNode(document_iri(document_of_entity(root)))
        asked += [(node, LABEL, None, graph), (node, A, None, graph)]
    changes.read_ahead(asked)


def _climb(changes: Changes, entities: Set[str]) -> set[str]:
    """All that stands above entities, up to those that stand for their things: these come back."""
    roots: set[str] = set()
    seen, level = set(entities), sorted(entities)
    while level:
        above: list[Pattern] = [(NamedNode(each), SAME_AS, None, CATALOGUE) for each in level]
        about: list[Pattern] = [(NamedNode(each), PROFILE, None, CATALOGUE) for each in level]
        apart: list[Pattern] = [
            (NamedNode(each), DIFFERENT_FROM, None, DECISIONS) for each in level
        ]
        changes.read_ahead([*above, *about, *apart])
        parents = {}
        for quad in _found(changes, above):
            parents[text_of(quad.subject)] = text_of(quad.object)
        roots |= set(level) - parents.keys()
        level = sorted(set(parents.values()) - seen)
        seen |= set(level)
    return roots


def _corrections(document: Document, coming: Sequence[Profile]) -> list[Pattern]:
    """What people have said of the entities and facts of a document."""
    texts = {thing_index(key) for entity in coming for key in thing_keys(entity)}
    for relation in document.relations:
        texts |= {fact_index(key, relation.type) for key in fact_keys(coming[relation.head])}
    return [(None, CONCERNS, Literal(text), CATALOGUE) for text in sorted(texts)]


def _found(changes: Changes, patterns: Iterable[Pattern]) -> Iterator[Quad]:
    for subject, predicate, object, graph in patterns:
        assert graph is not None
        yield from changes.match(subject, predicate, object, graph)
