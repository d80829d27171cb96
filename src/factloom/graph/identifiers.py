"""The names (IRIs) of documents, entities, relations and types in the graph, as plain strings.

They depend on the document alone, so that the same document has the same names in every store
and every exported file. An entity's name holds its document, type and label: it stays the same
when other parts of the document change. What a user decided about it outlasts the label too
(decisions.py).
"""

import hashlib
import re
from collections import Counter
from functools import lru_cache
from urllib.parse import quote, unquote

from factloom.document import Document
from factloom.errors import DocumentError, Place

DOCUMENT = "urn:factloom:document:"
ENTITY = "urn:factloom:entity:"
RELATION = "urn:factloom:relation:"
TYPE = "urn:factloom:type:"
VOCABULARY = "urn:factloom:vocabulary:"
WIKIDATA_PROPERTY = "http://www.wikidata.org/prop/direct/"
WIKIDATA_ENTITY = "http://www.wikidata.org/entity/"

_PROPERTY_NUMBER = re.compile(r"P[1-9]\d*")
_ENTITY_NUMBER = re.compile(r"Q[0-9]+")
_IRI = re.compile(r"(?:https?://|urn:[\w-]+:)[^\x00-\x20<>\"{}|^`\\]+")


def document_key(document: Document) -> str:
    """What tells a document from the others: its id, else its text."""
    content = document.text.encode("utf-8", "surrogatepass")
    return document.id or f"text-{hashlib.sha256(content).hexdigest()[:16]}"


def document_iri(key: str) -> str:
    return DOCUMENT + _encoded(key)


def document_of_iri(iri: str) -> str:
    """The reverse of `document_iri`."""
    return unquote(iri.removeprefix(DOCUMENT))


def entity_iris(document: Document) -> tuple[str, ...]:
    """A name for each entity; a number behind it where type and label stand there twice."""
    start = f"{ENTITY}{_encoded(document_key(document))}/"
    seen: Counter[str] = Counter()
    iris = []
    for index, entity in enumerate(document.entities):
        iri = f"{start}{_encoded(entity.type)}/{_encoded(document.name(index))}"
        seen[iri] += 1
        iris.append(iri if seen[iri] == 1 else f"{iri}/{seen[iri]}")
    return tuple(iris)


@lru_cache(maxsize=65536)
def document_of_entity(iri: str) -> str:
    """The key of the document that an entity belongs to."""
    return unquote(iri.removeprefix(ENTITY).partition("/")[0])


def entity_elsewhere(identifier: str) -> str | None:
    """The IRI that an entity's identifier stands for, where it is one or a number of Wikidata's."""
    if _ENTITY_NUMBER.fullmatch(identifier):
        return WIKIDATA_ENTITY + identifier
    return identifier if _IRI.fullmatch(identifier) else None


def is_property(relation: str) -> bool:
    """Whether a relation is called as Wikidata's properties are, such as P17."""
    return _PROPERTY_NUMBER.fullmatch(relation) is not None


def relation_iri(relation: str) -> str:
    """Wikidata's property where the relation is one, such as P17; else a name of our own."""
    if is_property(relation):
        return WIKIDATA_PROPERTY + relation
    return RELATION + _encoded(relation)


def relation_of(iri: str) -> str:
    """The reverse of `relation_iri`."""
    if iri.startswith(WIKIDATA_PROPERTY):
        return iri.removeprefix(WIKIDATA_PROPERTY)
    return unquote(iri.removeprefix(RELATION))


def type_iri(type: str) -> str:
    return TYPE + _encoded(type)


def type_of(iri: str) -> str:
    """The reverse of `type_iri`."""
    return unquote(iri.removeprefix(TYPE))


@lru_cache(maxsize=65536)
def _encoded(text: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        detail = "half of a surrogate pair is no character"
        raise DocumentError("not-writable", Place(), value=text, detail=detail) from None
