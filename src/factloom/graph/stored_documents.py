"""A document on its way into the store, out of it, and through what people have said meanwhile.

Each function gathers changes and writes nothing: `Store.write` makes them so, all of them or none.
"""

from collections.abc import Iterable, Mapping

from pyoxigraph import Literal, NamedNode, Quad

from factloom.document import Document
from factloom.graph.changes import Changes, text_of
from factloom.graph.correcting import corrected
from factloom.graph.corrections import Journal
from factloom.graph.identifiers import document_iri, document_key, entity_iris, relation_iri
from factloom.graph.looking_ahead import before_merging, before_renaming
from factloom.graph.merging import Merge
from factloom.graph.profiles import profiles
from factloom.graph.stored_quads import read_provenance, read_quads, stored_quads
from factloom.graph.stored_things import StoredThings
from factloom.graph.uniting import settle
from factloom.graph.vocabulary import CATALOGUE, LABEL, RELATION_NAMES
from factloom.text.relation_names import RELATION_NAMES as WIKIDATA_NAMES

Record = Mapping[NamedNode, str]  # what the catalogue keeps of a document


def put(
    changes: Changes,
    document: Document,
    before: Document | None,
    relation_names: Mapping[str, str],
    model: str,
    record: Record,
) -> tuple[Merge, ...]:
    """Take a document in, in the place of the one that has been there before."""
    before_renaming(changes, document)
    names = _rename(document, relation_names, changes)
    key = document_key(document)
    node = NamedNode(document_iri(key))
    things = StoredThings(changes)
    known = profiles(document, names)
    before_merging(changes, document, known)
    merges = things.exchange(key, _entities(before), known)
    settle(things, {key: {profile.iri for profile in known}})
    _forget(before, changes)
    said = corrected(document, Journal(changes), known)
    own = {relation.type for relation in document.relations}
    names |= _names_of({fact.relation.type for fact in said.facts} - own, changes)
    changes.add_unseen(stored_quads(document, known, relation_names=names, model=model, said=said))
    changes.add_unseen(
        Quad(node, predicate, Literal(value), CATALOGUE) for predicate, value in record.items()
    )
    return merges


def take_out(changes: Changes, document_id: str, document: Document) -> None:
    """Remove a document, its facts and its part in merges."""
    things = StoredThings(changes)
    things.remove(_entities(document))
    settle(things, {document_id: set()})
    _forget(document, changes)


def rewrite(changes: Changes, document: Document, model: str) -> None:
    """Let the graph of a document say what people have made of it by now."""
    known = profiles(document, {})
    said = corrected(document, Journal(changes), known)
    found = (*document.relations, *(fact.relation for fact in said.facts))
    names = _names_of((relation.type for relation in found), changes)
    new = set(stored_quads(document, known, relation_names=names, model=model, said=said))
    old = set(read_quads(changes, document))
    changes.remove(old - new)
    for quad in new - old:
        changes.add(quad)


def _entities(document: Document | None) -> tuple[str, ...]:
    return () if document is None else entity_iris(document)


def _names_of(relations: Iterable[str], changes: Changes) -> dict[str, str]:
    """What relations are called; one that only people speak of has Wikidata's name."""
    names = {}
    for relation in set(relations):
        node = NamedNode(relation_iri(relation))
        known = next(changes.match(node, LABEL, None, RELATION_NAMES), None)
        if known is not None:
            names[relation] = text_of(known.object)
        elif relation in WIKIDATA_NAMES:
            names[relation] = WIKIDATA_NAMES[relation]
    return names


def _rename(document: Document, given: Mapping[str, str], changes: Changes) -> dict[str, str]:
    """A relation has one name: the one given last; without any, its id."""
    names = {}
    for relation in {relation.type for relation in document.relations}:
        node = NamedNode(relation_iri(relation))
        known = list(changes.match(node, LABEL, None, RELATION_NAMES))
        if relation in given:
            names[relation] = given[relation]
            changes.remove(quad for quad in known if text_of(quad.object) != given[relation])
        elif known:
            names[relation] = text_of(known[0].object)
    return names


def _forget(document: Document | None, changes: Changes) -> None:
    """Remove the facts and the record of a document, if there is one."""
    if document is not None:
        node = NamedNode(document_iri(document_key(document)))
        changes.drop(node)
        changes.remove(changes.match(node, None, None, CATALOGUE))
        changes.remove(read_provenance(changes, document))
